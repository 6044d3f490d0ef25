#include "test/attack/cgroup.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "test/attack/wire.h"

namespace holdfast::attack {
namespace {

namespace fs = std::filesystem;

bool is_hierarchy(const fs::path& folder) {
  std::error_code ec;
  return fs::exists(folder / "cgroup.procs", ec);
}

// The roots of all hierarchies except cpuset of cgroup v1, whose new folders accept no process.
std::vector<std::string> hierarchies() {
  const fs::path base = "/sys/fs/cgroup";
  if (is_hierarchy(base)) return {base};
  std::vector<std::string> found;
  std::error_code ec;
  for (const auto& entry : fs::directory_iterator(base, ec)) {
    const std::string name = entry.path().filename();
    const bool usable = name.find("cpuset") == std::string::npos && !entry.is_symlink();
    if (usable && is_hierarchy(entry.path())) found.push_back(entry.path());
  }
  return found;
}

}  // namespace

PodCgroup::PodCgroup(std::string path) : path_(std::move(path)) {
  for (const std::string& root : hierarchies()) {
    std::string folder = root;
    std::istringstream parts(path_);
    bool good = true;
    for (std::string part; good && std::getline(parts, part, '/');) {
      folder += "/" + part;
      const bool made = mkdir(folder.c_str(), 0755) == 0;
      if (made) made_.push_back(folder);
      good = made || errno == EEXIST;
      if (!good) why_ = folder + ": " + std::strerror(errno);
    }
    if (good) leaves_.push_back(folder);
  }
  if (leaves_.empty() && why_.empty()) why_ = "no cgroup hierarchy is mounted at /sys/fs/cgroup";
}

PodCgroup::~PodCgroup() {
  for (auto folder = made_.rbegin(); folder != made_.rend(); ++folder) {
    // A process leaves its cgroup slightly after its end, so retry while the folder is busy.
    const std::string& name = *folder;
    (void)eventually(1s, [&name] { return rmdir(name.c_str()) == 0 || errno != EBUSY; });
  }
}

std::string PodCgroup::folders() const {
  std::string text;
  for (const std::string& folder : leaves_) text += folder + "\n";
  return text;
}

bool join_cgroups(const std::string& folders) {
  std::istringstream lines(folders);
  bool moved = true;
  for (std::string folder; std::getline(lines, folder);) {
    const int fd = ::open((folder + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC);
    moved = moved && fd >= 0 && ::write(fd, "0", 1) == 1;
    if (fd >= 0) (void)::close(fd);
  }
  return moved;
}

}  // namespace holdfast::attack
