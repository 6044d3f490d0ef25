// Reads and writes whole files so that a crash or a full disk never leaves a half-written one.
//
// Every descriptor opened here is closed on exec. Errors of every function: not_found, denied,
// exhausted (the disk or a limit is full), corrupt (the device reports an I/O error), unavailable.

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

// The content of a file; works for files in /proc, too. Errors: exhausted if there are more than
// `limit` bytes.
[[nodiscard]] Result<std::string> read_all(const Path& file, std::size_t limit);

// Opens a file for reading without blocking (not even on a FIFO). `flags` are added to open()'s,
// for example O_NOFOLLOW.
[[nodiscard]] Result<Descriptor> open_to_read(const Path& file, int flags = 0);

// Reads from the descriptor's position to the end of the file. `file` is used in error messages
// only. Errors: exhausted if more than `limit` bytes are left.
[[nodiscard]] Result<std::string> read_rest(const Descriptor& from, const Path& file,
                                            std::size_t limit);

// Replaces the file, or leaves it unchanged, even if the power fails: writes and syncs a new
// temporary file beside it (".NAME.<16 random hexadecimal digits>.tmp", created exclusively and
// never through a link), renames it over the file and syncs the directory. Temporary files that an
// earlier crash left are removed. `mode` applies whatever the umask is. Only one writer per file at
// a time.
[[nodiscard]] Status atomic_write(const Path& file, std::string_view bytes,
                                  mode_t mode = private_file);

// Moves a file that somebody else has written within its directory, and makes its content and its
// new name durable: after a power cut it is whole or not there. `from` stays on an error.
[[nodiscard]] Status move_synced(const Path& from, const Path& to);

// Appends to the file, which is created with `mode` if it does not exist. Not synced. Errors: also
// invalid if the name is a symbolic link.
[[nodiscard]] Status append(const Path& file, std::string_view bytes, mode_t mode = private_file);

// Creates the directory and its parents as needed. Only directories that it creates get `mode`. The
// entries are durable when this returns. Errors: conflict if something other than a directory has
// the name.
[[nodiscard]] Status ensure_dir(const Path& dir, mode_t mode = private_dir);

// Makes creations, renames and removals in `dir` durable.
[[nodiscard]] Status sync_dir(const Path& dir);

// The names in a directory, sorted, without "." and "..".
[[nodiscard]] Result<std::vector<std::string>> list_dir(const Path& dir);

// Removes a file or a whole tree. It is not an error if the path does not exist.
[[nodiscard]] Status remove_tree(const Path& path);

// An exclusive lock on a file (flock), which the kernel releases when its owner ends, however that
// happens. The file stays and holds the pid of the last owner. Child processes do not inherit the
// lock across exec().
class FileLock {
 public:
  // Errors: conflict, naming the holder, if another process (or another FileLock of this process)
  // holds the lock; invalid if the name is a symbolic link. Waits at most 2 s, and only if the
  // holder has ended while children that it was starting still hold the lock.
  [[nodiscard]] static Result<FileLock> take(const Path& file);

 private:
  explicit FileLock(Descriptor descriptor) : descriptor_(std::move(descriptor)) {}
  Descriptor descriptor_;
};

}  // namespace holdfast::fs
