#include "platform/proc/socket_holders.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>

#include "platform/text.h"

namespace holdfast::proc {
namespace {

constexpr std::size_t cgroup_file_max = 64UL * 1024;
constexpr std::uint64_t root_cgroup = 1;  // the id of every kernfs root

struct CloseDir {
  void operator()(DIR* dir) const { (void)::closedir(dir); }
};
using Dir = std::unique_ptr<DIR, CloseDir>;

Dir open_dir(const fs::Path& path) { return Dir(::opendir(path.c_str())); }

bool is_number(std::string_view name) {
  return !name.empty() &&
         std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Calls `visit` with each entry until it returns true; whether it did.
bool any_entry(DIR* dir, const std::function<bool(const dirent&)>& visit) {
  while (const dirent* entry = ::readdir(dir)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != ".." && visit(*entry)) return true;
  }
  return false;
}

std::string link_target(int dir, const char* name) {
  std::array<char, 512> target{};
  const ssize_t size = ::readlinkat(dir, name, target.data(), target.size());
  return size > 0 ? std::string(target.data(), static_cast<std::size_t>(size)) : std::string();
}

// "/usr/bin/curl (deleted)" -> "curl": a program that was upgraded keeps running.
std::string program_of(const std::string& executable) {
  constexpr std::string_view deleted = " (deleted)";
  std::string_view path = executable;
  if (path.ends_with(deleted)) path.remove_suffix(deleted.size());
  return std::string(path.substr(path.rfind('/') + 1));
}

// Version 1's hierarchies have inodes of their own, which must not be taken for ids of version 2.
fs::Path version_2_root(const fs::Path& mount) {
  for (const fs::Path& root : {mount, mount / "unified"}) {
    if (::access((root / "cgroup.controllers").c_str(), F_OK) == 0) return root;
  }
  return {};
}

}  // namespace

std::vector<std::string> cgroups_in(std::string_view text) {
  std::vector<std::string> paths;
  for (const std::string_view line : split(text, '\n')) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == line.npos ? line.npos : line.find(':', first + 1);
    if (second != line.npos) paths.emplace_back(line.substr(second + 1));
  }
  return paths;
}

SocketHolders::SocketHolders(const HolderLimits& limits, fs::Path proc, fs::Path cgroup_root)
    : limits_(limits),
      proc_(std::move(proc)),
      cgroup_root_(version_2_root(cgroup_root)),
      entries_(limits.entries_burst) {}

void SocketHolders::refill(MonoTime now) {
  if (refilled_at_ != MonoTime{} && now > refilled_at_) {
    const double seconds = std::chrono::duration<double>(now - refilled_at_).count();
    entries_ = std::min(limits_.entries_burst, entries_ + seconds * limits_.entries_per_second);
  }
  refilled_at_ = now;
}

bool SocketHolders::holds(pid_t pid, const std::string& link) {
  const Dir descriptors = open_dir(proc_ / std::to_string(pid) / "fd");
  if (!descriptors) return false;
  const int at = ::dirfd(descriptors.get());
  return any_entry(descriptors.get(), [this, at, &link](const dirent& entry) {
    entries_ -= 1;
    return link_target(at, entry.d_name) == link;
  });
}

SocketHolder SocketHolders::describe(pid_t pid) const {
  const fs::Path process = proc_ / std::to_string(pid);
  SocketHolder holder{.pid = pid};
  holder.program = program_of(link_target(AT_FDCWD, (process / "exe").c_str()));
  const auto text = fs::read_all(process / "cgroup", cgroup_file_max);
  if (text) holder.cgroups = cgroups_in(*text);
  return holder;
}

Result<SocketHolder> SocketHolders::find(std::uint64_t inode, MonoTime now) {
  refill(now);
  const std::string link = "socket:[" + std::to_string(inode) + "]";
  const double budget = entries_;
  const auto known = std::find_if(remembered_.begin(), remembered_.end(),
                                  [this, &link](pid_t pid) { return holds(pid, link); });
  entries_ = budget;
  if (known != remembered_.end()) return describe(*known);
  const Dir processes = open_dir(proc_);
  if (!processes) return fail(Errc::not_found, proc_.string() + " cannot be read");
  pid_t found = 0;
  bool spent = false;
  const bool any = any_entry(processes.get(), [this, &link, &found, &spent](const dirent& entry) {
    if (!is_number(entry.d_name)) return false;
    spent = spent || entries_ <= 0;
    if (spent) return false;
    entries_ -= 1;
    found = parse_int<pid_t>(entry.d_name).value_or(0);
    return holds(found, link);
  });
  if (any) return describe(found);
  if (spent) return fail(Errc::exhausted, "the budget for searching " + link + " is spent");
  return fail(Errc::not_found, "no process is seen to hold " + link);
}

void SocketHolders::remember(pid_t pid) {
  std::erase(remembered_, pid);
  remembered_.push_front(pid);
  if (remembered_.size() > limits_.remembered) remembered_.pop_back();
}

std::optional<std::string> SocketHolders::cgroup_path(std::uint64_t id) {
  if (id <= root_cgroup || cgroup_root_.empty()) return std::nullopt;
  const auto known = std::find_if(cgroups_.begin(), cgroups_.end(),
                                  [id](const auto& each) { return each.first == id; });
  if (known != cgroups_.end()) return known->second;
  std::deque<std::string> waiting{""};
  for (std::size_t read = 0; !waiting.empty() && read < limits_.cgroup_directories; ++read) {
    const std::string path = std::move(waiting.front());
    waiting.pop_front();
    const Dir dir = open_dir(cgroup_root_ / path.substr(path.empty() ? 0 : 1));
    std::string found;
    const bool any =
        dir && any_entry(dir.get(), [id, &path, &found, &waiting](const dirent& entry) {
          if (entry.d_type != DT_DIR) return false;
          found = path + "/" + entry.d_name;
          if (entry.d_ino == id) return true;
          waiting.push_back(found);
          return false;
        });
    if (!any) continue;
    cgroups_.emplace_front(id, found);
    if (cgroups_.size() > limits_.remembered) cgroups_.pop_back();
    return found;
  }
  return std::nullopt;
}

}  // namespace holdfast::proc
