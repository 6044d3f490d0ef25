// Brings a database to the schema this program knows, and a newer program's file back to it.
//
// Each numbered step up is stored in the file together with its way down, so yesterday's program
// can open tomorrow's file. `meta` says what the file is, its version and the oldest program
// version that may use it as it stands. A migration is one transaction: it happens whole or not at
// all.

#pragma once

#include <span>
#include <string_view>

#include "store/sqlite.h"

namespace holdfast::store {

struct Migration {
  int compatible_from;    // oldest program version that may still use the file afterwards
  std::string_view up;    // SQL script
  std::string_view down;  // SQL script: undoes `up`; kept in the file
};

// What a program knows of one kind of file. Its version is the number of its migrations.
struct Schema {
  std::string_view kind;  // "cache"
  std::span<const Migration> migrations;

  [[nodiscard]] int version() const { return static_cast<int>(migrations.size()); }
};

struct SchemaVersion {
  int version = 0;  // 0: a new file
  int compatible_from = 0;

  bool operator==(const SchemaVersion&) const = default;
};

// Errors: invalid when the file is another kind of database, or when a newer program wrote it, left
// no way down and does not call it compatible (both versions are named); corrupt.
[[nodiscard]] Status migrate(Database& database, const Schema& schema);

// What the file says of itself. Errors: invalid (another kind of database), corrupt.
[[nodiscard]] Result<SchemaVersion> schema_version(Database& database, const Schema& schema);

}  // namespace holdfast::store
