// Who owns a file or a directory, and who else may read or change it.
//
// "Ours" below means: owned by root or by the user that this process runs as. Every error here is
// `denied` unless it says otherwise, and names the path, its mode or owner, and the command that
// corrects it.

#pragma once

#include <string>

#include "platform/fs/file.h"

namespace holdfast::fs {

// The directory is no symbolic link, is ours, and nobody else may write to it; no directory above
// it belongs to another user, and those that others may write to have the sticky bit. The group of
// root, and this process's own primary group, count as "nobody else" above it, but not for `dir`.
// Errors: also not_found, conflict (not a directory).
[[nodiscard]] Status check_own_dir(const Path& dir);

// ensure_dir() followed by check_own_dir(): for every directory that a program keeps its state in.
[[nodiscard]] Status ensure_own_dir(const Path& dir, mode_t mode = private_dir);

// `file` is a regular file, not a link, which is ours and which nobody else may write to. A file
// that is not there is in order. For files that a library opens by their name.
[[nodiscard]] Status check_own_file(const Path& file);

// The bytes of a file that only programs of ours write, such as those in the data directory. The
// checks are those of check_own_file(), made on the file that was opened. Errors: also those of
// read_all().
[[nodiscard]] Result<std::string> read_own(const Path& file, std::size_t limit);

// The bytes of a secret that belongs to our programs: a regular file (links to it are followed,
// for that is how secrets are mounted) which is ours, and which neither group nor others may read
// or write. Errors: also those of read_all().
[[nodiscard]] Result<std::string> read_secret(const Path& file, std::size_t limit);

// The bytes of a file that decides what a program does, such as its configuration: a regular file
// (links to it are followed) which is ours and which nobody else may write to. Others may read it.
// Errors: also those of read_all().
[[nodiscard]] Result<std::string> read_trusted(const Path& file, std::size_t limit);

// A secret that other software looks after, such as another daemon's key.
struct ForeignSecret {
  std::string bytes;
  std::string warning;  // who else may read or write it, and what to do about that; "": nobody
};

// Refused only when everybody may write to it: whoever can change a file that names a server can
// have our requests sent to another one. Errors: also those of read_all().
[[nodiscard]] Result<ForeignSecret> read_foreign_secret(const Path& file, std::size_t limit);

}  // namespace holdfast::fs
