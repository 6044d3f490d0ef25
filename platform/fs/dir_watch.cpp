#include "platform/fs/dir_watch.h"

#include <sys/inotify.h>

#include <array>

#include "platform/fs/errno.h"

namespace holdfast::fs {

Result<DirWatch> DirWatch::create() {
  Descriptor descriptor(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!descriptor.is_open()) return fail_errno("watch directories");
  return DirWatch(std::move(descriptor));
}

Status DirWatch::add(const Path& dir) {
  if (watches_.contains(dir)) return {};
  const int number = ::inotify_add_watch(descriptor_.get(), dir.c_str(),
                                         IN_CREATE | IN_MOVED_TO | IN_ONLYDIR | IN_EXCL_UNLINK);
  if (number < 0) {
    const int error = errno;
    if (error == ENOSPC) return fail(Errc::exhausted, "watch " + dir.string() + ": too many");
    return fail_errno("watch " + dir.string(), error);
  }
  watches_.emplace(dir, number);
  return {};
}

void DirWatch::remove(const Path& dir) {
  const auto found = watches_.find(dir);
  if (found == watches_.end()) return;
  (void)::inotify_rm_watch(descriptor_.get(), found->second);
  watches_.erase(found);
}

std::vector<Path> DirWatch::watched() const {
  std::vector<Path> dirs;
  dirs.reserve(watches_.size());
  for (const auto& [dir, number] : watches_) dirs.push_back(dir);
  return dirs;
}

void DirWatch::drain() {
  alignas(inotify_event) std::array<char, 4096> events{};
  while (::read(descriptor_.get(), events.data(), events.size()) > 0) {
  }
}

}  // namespace holdfast::fs
