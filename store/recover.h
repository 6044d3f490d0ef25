// Opens a database even if its file is damaged: the damaged file is set aside and a new one
// created.
//
// The damaged file is kept beside it as NAME.damaged-<seconds since 1970>, at most three of them.
// The caller is told, because the consequences differ: the cache fills itself again, while the
// outbox should be salvaged (salvage.h).

#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "platform/result.h"
#include "platform/time.h"
#include "store/migrate.h"
#include "store/sqlite.h"

namespace holdfast::store {

// Larger files are not checked, because that would delay the start: this takes about 50 ms if the
// file is in the kernel's page cache.
inline constexpr std::uintmax_t checked_bytes_max = 8 << 20;

struct Damage {
  std::filesystem::path file;  // where the damaged file is now
  std::string why;             // the error's text
};

struct Recovered {
  Database database;                  // open and migrated
  std::optional<Damage> damage = {};  // nothing: the file was intact or new
};

// Opens and migrates the database. After an unclean stop the file's structure is checked first,
// unless the file is so large that this would delay the start. Errors: unavailable (I/O, or in
// use), exhausted (the disk is full), denied; invalid if the file is another kind of database or a
// newer program's (see migrate.h). Files with these errors are not set aside, because they are not
// damaged.
[[nodiscard]] Result<Recovered> open_or_rebuild(const std::filesystem::path& file,
                                                const DatabaseOptions& options,
                                                const Schema& schema, WallTime now);

// Sets a closed database and its log aside and returns the new path. For callers that got `corrupt`
// from an open database, after closing it. Errors: unavailable.
[[nodiscard]] Result<std::filesystem::path> set_aside(const std::filesystem::path& file,
                                                      WallTime now);

}  // namespace holdfast::store
