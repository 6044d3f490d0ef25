#include "store/migrate.h"

#include <string>

#include "platform/check.h"

namespace holdfast::store {
namespace {

constexpr std::string_view own_tables =
    "CREATE TABLE meta (kind TEXT NOT NULL, version INTEGER NOT NULL,"
    " compatible_from INTEGER NOT NULL) STRICT;"
    "CREATE TABLE rollback (version INTEGER PRIMARY KEY, down TEXT NOT NULL) STRICT;";

Result<std::int64_t> count(Database& database, const char* sql) {
  Statement statement = database.prepare(sql);
  Cursor row = statement.use();
  TRY([[maybe_unused]] const bool found, row.next());
  return row.integer(0);
}

std::string step_name(const Schema& schema, int version) {
  return std::string(schema.kind) + " schema " + std::to_string(version);
}

Status create(Database& database, const Schema& schema) {
  if (auto done = database.execute(own_tables); !done) return done;
  Statement insert =
      database.prepare("INSERT INTO meta (kind, version, compatible_from) VALUES (?1, 0, 0)");
  return insert.use(schema.kind).run();
}

Status record(Database& database, SchemaVersion now) {
  Statement update = database.prepare("UPDATE meta SET version = ?1, compatible_from = ?2");
  const std::int64_t version = now.version;
  const std::int64_t compatible = now.compatible_from;
  if (auto done = update.use(version, compatible).run(); !done) return done;
  // Also stored here for people who inspect the file with the sqlite3 shell.
  return database.execute("PRAGMA user_version=" + std::to_string(now.version));
}

Status step_up(Database& database, const Schema& schema, int version) {
  const Migration& migration = schema.migrations[static_cast<std::size_t>(version - 1)];
  if (auto done = database.execute(migration.up); !done) {
    return fail(step_name(schema, version), done.error());
  }
  Statement keep = database.prepare("INSERT INTO rollback (version, down) VALUES (?1, ?2)");
  const std::int64_t number = version;
  if (auto done = keep.use(number, migration.down).run(); !done) return done;
  return record(database, {version, migration.compatible_from});
}

Status step_down(Database& database, const Schema& schema, int version) {
  Statement find = database.prepare("SELECT down FROM rollback WHERE version = ?1");
  const std::int64_t number = version;
  std::string script;
  {
    Cursor row = find.use(number);
    TRY([[maybe_unused]] const bool found, row.next());
    script = row.text(0);
  }
  if (auto done = database.execute(script); !done) {
    return fail(step_name(schema, version) + " down", done.error());
  }
  Statement forget = database.prepare("DELETE FROM rollback WHERE version = ?1");
  return forget.use(number).run();
}

Status walk_up(Database& database, const Schema& schema, int from) {
  auto transaction = database.begin(Durability::full);
  if (!transaction) return fail(transaction.error());
  if (from == 0) {
    if (auto done = create(database, schema); !done) return done;
  }
  for (int version = from + 1; version <= schema.version(); ++version) {
    if (auto done = step_up(database, schema, version); !done) return done;
  }
  return transaction->commit();
}

Status walk_down(Database& database, const Schema& schema, int from) {
  auto transaction = database.begin(Durability::full);
  if (!transaction) return fail(transaction.error());
  for (int version = from; version > schema.version(); --version) {
    if (auto done = step_down(database, schema, version); !done) return done;
  }
  const int compatible = schema.migrations.back().compatible_from;
  if (auto done = record(database, {schema.version(), compatible}); !done) return done;
  return transaction->commit();
}

// Whether the file holds every down script from its version to ours.
Result<bool> has_way_down(Database& database, int from, int to) {
  Statement stored =
      database.prepare("SELECT count(*) FROM rollback WHERE version > ?1 AND version <= ?2");
  const std::int64_t low = to;
  const std::int64_t high = from;
  Cursor row = stored.use(low, high);
  TRY([[maybe_unused]] const bool found, row.next());
  return row.integer(0) == high - low;
}

}  // namespace

Result<SchemaVersion> schema_version(Database& database, const Schema& schema) {
  TRY(const auto tables, count(database, "SELECT count(*) FROM sqlite_schema"));
  if (tables == 0) return SchemaVersion{};
  TRY(const auto metas, count(database,
                              "SELECT count(*) FROM sqlite_schema"
                              " WHERE type = 'table' AND name = 'meta'"));
  if (metas == 0) {
    return fail(Errc::invalid, database.name() + " is another program's database");
  }
  Statement statement = database.prepare("SELECT kind, version, compatible_from FROM meta");
  Cursor row = statement.use();
  TRY(const bool found, row.next());
  if (!found) return fail(Errc::corrupt, database.name() + ": meta is empty");
  if (row.text(0) != schema.kind) {
    return fail(Errc::invalid, database.name() + " holds " + std::string(row.text(0)) + ", not " +
                                   std::string(schema.kind));
  }
  return SchemaVersion{static_cast<int>(row.integer(1)), static_cast<int>(row.integer(2))};
}

Status migrate(Database& database, const Schema& schema) {
  CHECK(schema.version() > 0);
  TRY(const SchemaVersion file, schema_version(database, schema));
  if (file.version == schema.version()) return {};
  if (file.version < schema.version()) return walk_up(database, schema, file.version);
  if (file.compatible_from <= schema.version()) return {};
  TRY(const bool way_down, has_way_down(database, file.version, schema.version()));
  if (way_down) return walk_down(database, schema, file.version);
  return fail(Errc::invalid, database.name() + " has schema " + std::to_string(file.version) +
                                 " of a newer program; this one knows up to " +
                                 std::to_string(schema.version()));
}

}  // namespace holdfast::store
