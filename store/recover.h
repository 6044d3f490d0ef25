// Opens a database whatever happened to its file: a damaged one is set aside and a fresh one made.
//
// The damaged file stays beside it as NAME.damaged-<seconds since 1970>, at most three of them. The
// caller is told, because what it meant differs: the cache fills itself again, the outbox is worth
// a salvage (salvage.h).

#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "platform/result.h"
#include "platform/time.h"
#include "store/migrate.h"
#include "store/sqlite.h"

namespace holdfast::store {

struct Damage {
  std::filesystem::path file;  // where the damaged file is now
  std::string why;             // as SQLite or we put it
};

struct Recovered {
  Database database;                  // open and migrated
  std::optional<Damage> damage = {};  // nothing: the file was sound or new
};

// After a stop that was not orderly the file's structure is checked first, unless it is so large
// that this would delay the start. Errors: unavailable, exhausted (the disk's, or in use); invalid,
// when the file is another kind of database or a newer program's (see migrate.h). Neither is set
// aside: it is no damage.
[[nodiscard]] Result<Recovered> open_or_rebuild(const std::filesystem::path& file,
                                                const DatabaseOptions& options,
                                                const Schema& schema, WallTime now);

// Moves a closed database and its log out of the way and returns where to: for a caller who met
// `corrupt` while it was open. Errors: unavailable.
[[nodiscard]] Result<std::filesystem::path> set_aside(const std::filesystem::path& file,
                                                      WallTime now);

}  // namespace holdfast::store
