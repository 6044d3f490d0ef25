// Tells when files appear in directories: inotify(7), as one descriptor to wait on.
//
// It says only that something happened somewhere; whoever waits looks for himself.

#pragma once

#include <map>

#include "platform/fs/file.h"

namespace holdfast::fs {

class DirWatch {
 public:
  // Errors: exhausted (fs.inotify.max_user_instances).
  [[nodiscard]] static Result<DirWatch> create();

  // From now on a file that is renamed into `dir` or created there makes the descriptor readable.
  // A directory that is watched already stays so. Errors: not_found, exhausted.
  [[nodiscard]] Status add(const Path& dir);
  void remove(const Path& dir);
  [[nodiscard]] std::vector<Path> watched() const;

  // Readable once something happened; drain() makes it unreadable again.
  [[nodiscard]] int descriptor() const { return descriptor_.get(); }
  void drain();

 private:
  explicit DirWatch(Descriptor descriptor) : descriptor_(std::move(descriptor)) {}

  Descriptor descriptor_;
  std::map<Path, int> watches_;
};

}  // namespace holdfast::fs
