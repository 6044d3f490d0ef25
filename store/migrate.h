// Migrates a database to the schema that this program knows, also back from a newer program's
// schema.
//
// Each migration is stored in the file together with its down script, so that an older program can
// open a newer program's file. The table `meta` holds the file's kind, its version and the oldest
// program version that can use it without migration. A migration is one transaction: it is applied
// completely or not at all.

#pragma once

#include <span>
#include <string_view>

#include "store/sqlite.h"

namespace holdfast::store {

struct Migration {
  int compatible_from;    // the oldest schema version whose program can use the migrated file
  std::string_view up;    // SQL script
  std::string_view down;  // SQL script that reverts `up`; it is stored in the file
};

// What a program knows about one kind of file. Its version is the number of its migrations.
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

// Errors: invalid (the file is another kind of database, or a newer program wrote it, it is not
// compatible and has no down scripts; the text names both versions); corrupt.
[[nodiscard]] Status migrate(Database& database, const Schema& schema);

// The version recorded in the file. Errors: invalid (another kind of database), corrupt.
[[nodiscard]] Result<SchemaVersion> schema_version(Database& database, const Schema& schema);

}  // namespace holdfast::store
