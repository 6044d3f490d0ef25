// Copies an open database to a new file.

#pragma once

#include <filesystem>

#include "platform/result.h"
#include "store/sqlite.h"

namespace holdfast::store {

// Writes a copy of the whole database to `file`, which must not exist, with mode 0600. It is there
// as a whole or not at all. A log that another database has left beside `file` is removed. No
// Transaction may be open. Errors: conflict if there is a file; the disk's.
[[nodiscard]] Status copy_database(Database& database, const std::filesystem::path& file);

// Removes the log beside `file`, which SQLite would apply to it when it is opened. Errors: the
// disk's.
[[nodiscard]] Status remove_log(const std::filesystem::path& file);

}  // namespace holdfast::store
