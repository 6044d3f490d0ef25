// Whole files, read and written so that a crash or a full disk never leaves half of one.
//
// Every descriptor opened here is closed on exec. Errors, everywhere: not_found, denied, exhausted
// (the disk or a limit is full), corrupt (the device reports an I/O error), unavailable.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "platform/fs/descriptor.h"
#include "platform/result.h"

namespace holdfast::fs {

using Path = std::filesystem::path;

constexpr mode_t private_file = 0600;
constexpr mode_t private_dir = 0700;

// The bytes of a file (also of one in /proc). Errors: exhausted when there are more than `limit`.
[[nodiscard]] Result<std::string> read_all(const Path& file, std::size_t limit);

// Replaces the file or leaves it as it was, also through a power cut: a temporary file beside it
// ("NAME.tmp", overwritten if a crash left one) is synced, renamed over it, and the directory
// synced. `mode` holds whatever the umask is. One writer per file at a time.
[[nodiscard]] Status atomic_write(const Path& file, std::string_view bytes,
                                  mode_t mode = private_file);

// Adds to the end of the file, which it creates with `mode`. Not synced.
[[nodiscard]] Status append(const Path& file, std::string_view bytes, mode_t mode = private_file);

// Creates the directory and its parents as needed; only what it creates gets `mode`. The entry is
// durable when this returns. Errors: conflict when something else has the name.
[[nodiscard]] Status ensure_dir(const Path& dir, mode_t mode = private_dir);

// Makes creations, renames and removals in `dir` durable.
[[nodiscard]] Status sync_dir(const Path& dir);

// The names in a directory, sorted, without "." and "..".
[[nodiscard]] Result<std::vector<std::string>> list_dir(const Path& dir);

// Removes a file or a whole tree; what is not there is removed already.
[[nodiscard]] Status remove_tree(const Path& path);

// Bytes that an unprivileged writer may still use on the file system that holds `path`.
[[nodiscard]] Result<std::uint64_t> free_space(const Path& path);

// A lock that ends with its owner, however the owner ends. The file stays and holds the pid of the
// last owner. Processes that are started meanwhile do not inherit it.
class FileLock {
 public:
  // Errors: conflict when another process (or another FileLock of this one) holds it, naming that
  // process. Waits only when the owner has ended and children of it, which were just being started,
  // still hold it: at most 2 s.
  [[nodiscard]] static Result<FileLock> take(const Path& file);

 private:
  explicit FileLock(Descriptor descriptor) : descriptor_(std::move(descriptor)) {}
  Descriptor descriptor_;
};

}  // namespace holdfast::fs
