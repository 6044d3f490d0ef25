#include "platform/fs/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <memory>

#include "platform/fs/errno.h"
#include "platform/random.h"
#include "platform/text.h"

namespace holdfast::fs {
namespace {

Result<Descriptor> open_file(const Path& file, int flags, mode_t mode = 0) {
  for (;;) {
    const int number = ::open(file.c_str(), flags | O_CLOEXEC, mode);
    if (number >= 0) return Descriptor(number);
    if (errno != EINTR) return fail_errno("open " + file.string());
  }
}

Status write_whole(const Descriptor& to, std::string_view bytes, const Path& file) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(to.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail_errno("write " + file.string());
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Status write_synced(const Path& file, std::string_view bytes, mode_t mode) {
  TRY(const Descriptor to, open_file(file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, private_file));
  if (::fchmod(to.get(), mode) != 0) return fail_errno("set the mode of " + file.string());
  if (auto done = write_whole(to, bytes, file); !done) return fail(done.error());
  if (::fsync(to.get()) != 0) return fail_errno("sync " + file.string());
  return {};
}

// "dir/name" -> "dir"; "name" -> ".".
Path parent_of(const Path& path) {
  const Path parent = path.parent_path();
  return parent.empty() ? Path(".") : parent;
}

bool is_dir(const Path& path) {
  struct stat found {};
  return ::stat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode);
}

// Temporary files are called ".NAME." + 16 digits + ".tmp".
constexpr std::string_view hex_digits = "0123456789abcdef";
constexpr std::size_t temporary_digits = 16;
constexpr std::string_view temporary_end = ".tmp";

std::string temporary_begin(const Path& file) { return "." + file.filename().string() + "."; }

Path new_temporary(const Path& file) {
  const std::string digits = Random::from_entropy().text(temporary_digits, hex_digits);
  return parent_of(file) / (temporary_begin(file) + digits + std::string(temporary_end));
}

bool is_temporary_of(std::string_view name, std::string_view begin) {
  if (name.size() != begin.size() + temporary_digits + temporary_end.size()) return false;
  if (!name.starts_with(begin) || !name.ends_with(temporary_end)) return false;
  return name.substr(begin.size(), temporary_digits).find_first_not_of(hex_digits) ==
         std::string_view::npos;
}

// Removes temporary files that a crash left behind. Failures are ignored: such a file does no harm.
void remove_leftovers(const Path& file) {
  const std::string begin = temporary_begin(file);
  const auto names = list_dir(parent_of(file)).value_or(std::vector<std::string>());
  for (const std::string& name : names) {
    if (is_temporary_of(name, begin)) (void)::unlink((parent_of(file) / name).c_str());
  }
}

}  // namespace

Result<Descriptor> open_to_read(const Path& file, int flags) {
  return open_file(file, O_RDONLY | O_NONBLOCK | O_NOCTTY | flags);
}

Result<std::string> read_all(const Path& file, std::size_t limit) {
  TRY(const Descriptor from, open_file(file, O_RDONLY));
  return read_rest(from, file, limit);
}

Result<std::string> read_rest(const Descriptor& from, const Path& file, std::size_t limit) {
  std::string bytes;
  std::array<char, 4096> chunk{};
  for (;;) {
    const ssize_t count = ::read(from.get(), chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail_errno("read " + file.string());
    if (count == 0) return bytes;
    bytes.append(chunk.data(), static_cast<std::size_t>(count));
    if (bytes.size() > limit) {
      return fail(Errc::exhausted,
                  "read " + file.string() + ": more than " + std::to_string(limit) + " bytes");
    }
  }
}

Status atomic_write(const Path& file, std::string_view bytes, mode_t mode) {
  remove_leftovers(file);
  const Path temporary = new_temporary(file);
  if (auto done = write_synced(temporary, bytes, mode); !done) {
    (void)::unlink(temporary.c_str());
    return fail(done.error());
  }
  if (::rename(temporary.c_str(), file.c_str()) != 0) {
    const int error = errno;
    (void)::unlink(temporary.c_str());
    return fail_errno("rename to " + file.string(), error);
  }
  return sync_dir(parent_of(file));
}

Status move_synced(const Path& from, const Path& to) {
  TRY(const Descriptor opened, open_file(from, O_RDONLY | O_NOFOLLOW));
  if (::fsync(opened.get()) != 0) return fail_errno("sync " + from.string());
  if (::rename(from.c_str(), to.c_str()) != 0) return fail_errno("rename to " + to.string());
  return sync_dir(parent_of(to));
}

Status append(const Path& file, std::string_view bytes, mode_t mode) {
  TRY(const Descriptor to, open_file(file, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, mode));
  return write_whole(to, bytes, file);
}

Status ensure_dir(const Path& dir, mode_t mode) {
  if (is_dir(dir)) return {};
  const Path parent = parent_of(dir);
  if (parent != dir) {
    if (auto done = ensure_dir(parent, mode); !done) return fail(done.error());
  }
  if (::mkdir(dir.c_str(), mode) != 0) {
    const int error = errno;
    if (error == EEXIST && is_dir(dir)) return {};
    return fail_errno("create directory " + dir.string(), error);
  }
  if (::chmod(dir.c_str(), mode) != 0) return fail_errno("set the mode of " + dir.string());
  return sync_dir(parent);
}

Status sync_dir(const Path& dir) {
  TRY(const Descriptor opened, open_file(dir, O_RDONLY | O_DIRECTORY));
  if (::fsync(opened.get()) != 0) return fail_errno("sync " + dir.string());
  return {};
}

Result<std::vector<std::string>> list_dir(const Path& dir) {
  const auto close = [](DIR* open) { (void)::closedir(open); };
  const std::unique_ptr<DIR, decltype(close)> opened(::opendir(dir.c_str()));
  if (!opened) return fail_errno("list " + dir.string());
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = ::readdir(opened.get())) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  if (errno != 0) return fail_errno("list " + dir.string());
  std::sort(names.begin(), names.end());
  return names;
}

Status remove_tree(const Path& path) {
  std::error_code ec;
  std::filesystem::remove_all(path, ec);
  if (ec) return fail_errno("remove " + path.string(), ec.value());
  return {};
}

namespace {

// A child of a killed lock holder keeps the lock from fork() until exec(): wait at most 400 x 5 ms.
constexpr int orphan_tries = 400;
constexpr int orphan_pause_ms = 5;

// Whether the process whose pid the lock file holds has ended.
bool has_ended(std::string_view holder) {
  const auto pid = parse_int<pid_t>(holder);
  return pid && *pid > 0 && ::kill(*pid, 0) != 0 && errno == ESRCH;
}

}  // namespace

Result<FileLock> FileLock::take(const Path& file) {
  TRY(Descriptor descriptor, open_file(file, O_RDWR | O_CREAT | O_NOFOLLOW, private_file));
  for (int attempt = 1; ::flock(descriptor.get(), LOCK_EX | LOCK_NB) != 0; ++attempt) {
    if (errno != EWOULDBLOCK) return fail_errno("lock " + file.string());
    const std::string text = read_all(file, 64).value_or("");
    const std::string_view holder = trim(text);
    if (attempt == orphan_tries || !has_ended(holder)) {
      const std::string who = holder.empty() ? "another process" : "process " + std::string(holder);
      return fail(Errc::conflict, "lock " + file.string() + ": held by " + who);
    }
    (void)::poll(nullptr, 0, orphan_pause_ms);
  }
  // The pid is only for error messages; a full disk must not prevent taking the lock.
  const std::string pid = std::to_string(::getpid()) + "\n";
  if (::ftruncate(descriptor.get(), 0) == 0) (void)write_whole(descriptor, pid, file).has_value();
  return FileLock(std::move(descriptor));
}

}  // namespace holdfast::fs
