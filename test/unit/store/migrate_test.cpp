// Migrations up, migrations down by an older program, and files that are refused.

#include "store/migrate.h"

#include "test/unit/store/outcome.h"

namespace holdfast::store {
namespace {

const Migration steps[] = {
    {.compatible_from = 1,
     .up = "CREATE TABLE one (a INTEGER NOT NULL) STRICT; INSERT INTO one (a) VALUES (1);",
     .down = "DROP TABLE one;"},
    {.compatible_from = 1,  // an older program ignores an added column with a default
     .up = "ALTER TABLE one ADD COLUMN b INTEGER NOT NULL DEFAULT 2;",
     .down = "ALTER TABLE one DROP COLUMN b;"},
    {.compatible_from = 3,
     .up = "CREATE TABLE two (c TEXT) STRICT; INSERT INTO two SELECT 'x' FROM one;",
     .down = "DROP TABLE two;"},
};

Schema version(std::size_t count) { return {"thing", std::span(steps).first(count)}; }

std::string tables(Database& database) {
  Statement all = database.prepare(
      "SELECT group_concat(sql, ' ') FROM (SELECT sql FROM sqlite_schema"
      " WHERE name NOT IN ('meta', 'rollback') ORDER BY name)");
  Cursor row = all.use();
  EXPECT_TRUE(row.next());
  return std::string(row.text(0));
}

std::int64_t number(Database& database, const char* sql) {
  Statement statement = database.prepare(sql);
  Cursor row = statement.use();
  EXPECT_TRUE(row.next());
  return row.integer(0);
}

TEST(Migrate, ANewFileAndAnOldOneEndTheSame) {
  Database fresh = Database::in_memory();
  ASSERT_TRUE(migrate(fresh, version(3)));
  Database old = Database::in_memory();
  for (const std::size_t count : {1u, 2u, 3u, 3u}) ASSERT_TRUE(migrate(old, version(count)));
  EXPECT_EQ(tables(fresh), tables(old));
  for (Database* database : {&fresh, &old}) {
    EXPECT_EQ(value(schema_version(*database, version(3))), (SchemaVersion{3, 3}));
    EXPECT_EQ(number(*database, "PRAGMA user_version"), 3);
    EXPECT_EQ(number(*database, "SELECT b FROM one"), 2);
  }
}

TEST(Migrate, AnOlderProgramUsesACompatibleFileAsItIs) {
  Database database = Database::in_memory();
  ASSERT_TRUE(migrate(database, version(2)));
  const std::string before = tables(database);
  ASSERT_TRUE(migrate(database, version(1)));
  EXPECT_EQ(tables(database), before);
  EXPECT_EQ(value(schema_version(database, version(1))), (SchemaVersion{2, 1}));
}

TEST(Migrate, AnOlderProgramWalksANewerFileDown) {
  for (const std::size_t to : {1u, 2u}) {
    SCOPED_TRACE(to);
    Database expected = Database::in_memory();
    ASSERT_TRUE(migrate(expected, version(to)));
    Database database = Database::in_memory();
    ASSERT_TRUE(migrate(database, version(3)));
    ASSERT_TRUE(migrate(database, version(to)));
    EXPECT_EQ(tables(database), tables(expected));
    const SchemaVersion now = value(schema_version(database, version(to)));
    EXPECT_EQ(now, (SchemaVersion{static_cast<int>(to), 1}));
    EXPECT_EQ(number(database, "SELECT count(*) FROM rollback"), static_cast<std::int64_t>(to));
    EXPECT_EQ(number(database, "SELECT a FROM one"), 1);
    ASSERT_TRUE(migrate(database, version(3)));  // and up again
  }
}

TEST(Migrate, WithoutAWayDownBothVersionsAreNamed) {
  Database database = Database::in_memory();
  ASSERT_TRUE(migrate(database, version(3)));
  ASSERT_TRUE(database.execute("DELETE FROM rollback WHERE version = 3"));
  const Status refused = migrate(database, version(1));
  ASSERT_FALSE(refused);
  EXPECT_EQ(
      refused.error(),
      (Error{Errc::invalid, "memory has schema 3 of a newer program; this one knows up to 1"}));
}

TEST(Migrate, AFailingStepChangesNothing) {
  const Migration bad[] = {
      steps[0], {.compatible_from = 1, .up = "CREATE TABLE x (y); NONSENSE;", .down = ""}};
  Database database = Database::in_memory();
  ASSERT_TRUE(migrate(database, version(1)));
  const std::string before = tables(database);
  EXPECT_EQ(said(migrate(database, {"thing", bad})),
            "invalid: thing schema 2: memory: near \"NONSENSE\": syntax error");
  EXPECT_EQ(tables(database), before);
  EXPECT_EQ(value(schema_version(database, version(1))), (SchemaVersion{1, 1}));
}

TEST(Migrate, AFailingWayDownChangesNothing) {
  Database database = Database::in_memory();
  ASSERT_TRUE(migrate(database, version(3)));
  ASSERT_TRUE(database.execute("UPDATE rollback SET down = 'DROP TABLE none' WHERE version = 3"));
  const std::string before = tables(database);
  EXPECT_EQ(said(migrate(database, version(1))),
            "invalid: thing schema 3 down: memory: no such table: none");
  EXPECT_EQ(tables(database), before);
}

TEST(Migrate, OtherPeoplesFilesAreRefused) {
  const struct {
    std::string script;
    std::string said;
  } rows[] = {
      {"CREATE TABLE bookmarks (url TEXT)", "invalid: memory is another program's database"},
      {"CREATE TABLE meta (kind, version, compatible_from);"
       "INSERT INTO meta VALUES ('other', 1, 1)",
       "invalid: memory holds other, not thing"},
      {"CREATE TABLE meta (kind, version, compatible_from)", "corrupt: memory: meta is empty"},
  };
  for (const auto& row : rows) {
    Database database = Database::in_memory();
    ASSERT_TRUE(database.execute(row.script));
    EXPECT_EQ(said(migrate(database, version(1))), row.said);
  }
}

}  // namespace
}  // namespace holdfast::store
