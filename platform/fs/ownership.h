// Checks who owns a file or directory, and who else may read or change it.
//
// "Ours" below means: owned by root or by the user that this process runs as. Every error here is
// `denied` unless it says otherwise, and names the path, its mode or owner, and the command that
// corrects it.

#pragma once

#include <string>

#include "platform/fs/file.h"

namespace holdfast::fs {

// Checks that `dir` is ours, is not a symbolic link and is not writable by others, and that every
// directory above it is ours and is either not writable by others or has the sticky bit. Above
// `dir`, but not for `dir` itself, write access of root's group and of this process's own primary
// group is accepted. Errors: also not_found, conflict (not a directory).
[[nodiscard]] Status check_own_dir(const Path& dir);

// Calls ensure_dir(), then check_own_dir(). For every directory that a program keeps its state in.
[[nodiscard]] Status ensure_own_dir(const Path& dir, mode_t mode = private_dir);

// Checks that `file` is a regular file (not a link) which is ours and not writable by others. A
// file that does not exist passes. For files that a library opens by name.
[[nodiscard]] Status check_own_file(const Path& file);

// Reads a file that only our programs write, such as those in the data directory. The checks are
// those of check_own_file(), made on the opened file. Errors: also those of read_all().
[[nodiscard]] Result<std::string> read_own(const Path& file, std::size_t limit);

// Reads a secret that belongs to our programs: a regular file which is ours, and which neither
// group nor others may read or write. Symbolic links are followed, because secrets are mounted that
// way. Errors: also those of read_all().
[[nodiscard]] Result<std::string> read_secret(const Path& file, std::size_t limit);

// Reads a file that decides what a program does, such as its configuration: a regular file which is
// ours and not writable by others, although others may read it. Symbolic links are followed.
// Errors: also those of read_all().
[[nodiscard]] Result<std::string> read_trusted(const Path& file, std::size_t limit);

// A secret that belongs to other software, such as another daemon's key.
struct ForeignSecret {
  std::string bytes;
  std::string warning;  // who else may read or write it and how to correct that; "" if nobody
};

// Reads a secret that belongs to other software. It is refused only if everybody may write to it: a
// user who can change a file that names a server can redirect our requests. Errors: also those of
// read_all().
[[nodiscard]] Result<ForeignSecret> read_foreign_secret(const Path& file, std::size_t limit);

}  // namespace holdfast::fs
