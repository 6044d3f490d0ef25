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

// Opens a file for reading without waiting (a FIFO does not block); `flags` are added, such as
// O_NOFOLLOW.
[[nodiscard]] Result<Descriptor> open_to_read(const Path& file, int flags = 0);

// What is left to read. `file` is for messages. Errors: exhausted when that is more than `limit`
// bytes.
[[nodiscard]] Result<std::string> read_rest(const Descriptor& from, const Path& file,
                                            std::size_t limit);

// Replaces the file or leaves it as it was, also through a power cut: a new temporary file beside
// it (".NAME.<16 random hexadecimal digits>.tmp", which never follows a link and never is a file
// that was there) is synced, renamed over it, and the directory synced. What a crash left of
// earlier ones is removed. `mode` holds whatever the umask is. One writer per file at a time.
[[nodiscard]] Status atomic_write(const Path& file, std::string_view bytes,
                                  mode_t mode = private_file);

// Adds to the end of the file, which it creates with `mode`. Not synced. Errors: also invalid,
// when the name is a symbolic link.
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
// last owner. Processes that are started meanwhile do not inherit it. Errors: also invalid, when
// the name is a symbolic link.
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
