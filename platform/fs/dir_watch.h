// Watches directories for new files with inotify(7), as one file descriptor to wait on.
//
// The descriptor says only that something appeared in one of the directories; the caller looks for
// what is new. Not thread-safe.

#pragma once

#include <map>

#include "platform/fs/file.h"

namespace holdfast::fs {

class DirWatch {
 public:
  // Errors: exhausted (fs.inotify.max_user_instances).
  [[nodiscard]] static Result<DirWatch> create();

  // Watches `dir`: from now on the descriptor becomes readable when a file is created in `dir` or
  // renamed into it. Adding a directory again has no effect. Errors: not_found, exhausted
  // (fs.inotify.max_user_watches).
  [[nodiscard]] Status add(const Path& dir);
  void remove(const Path& dir);
  [[nodiscard]] std::vector<Path> watched() const;

  // Becomes readable when a file appears; drain() discards the pending events.
  [[nodiscard]] int descriptor() const { return descriptor_.get(); }
  void drain();

 private:
  explicit DirWatch(Descriptor descriptor) : descriptor_(std::move(descriptor)) {}

  Descriptor descriptor_;
  std::map<Path, int> watches_;
};

}  // namespace holdfast::fs
