// The SQLite wrapper: binding and reading values, transactions, opening files, and errors.

#include "store/sqlite.h"

#include <sys/stat.h>

#include <fstream>

#include "store/cache.h"
#include "test/support/scratch_dir.h"
#include "test/unit/store/outcome.h"

namespace holdfast::store {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;

const DatabaseOptions hasty{.busy_timeout = 0s};

Database with_table() {
  Database database = Database::in_memory();
  EXPECT_TRUE(
      database.execute("CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT UNIQUE,"
                       " bytes BLOB, size INTEGER) STRICT"));
  return database;
}

std::vector<std::string> names(Database& database) {
  Statement all = database.prepare("SELECT name FROM item ORDER BY id");
  Cursor row = all.use();
  std::vector<std::string> found;
  for (;;) {
    if (!value(row.next())) return found;
    found.emplace_back(row.text(0));
  }
}

Status add(Database& database, std::string_view name) {
  return database.prepare("INSERT INTO item (name) VALUES (?1)").use(name).run();
}

TEST(Sqlite, ValuesGoThereAndBack) {
  const struct {
    std::string name;
    std::string bytes;
    std::optional<std::int64_t> size;
  } rows[] = {
      {"", "", 0},
      {"plain", "bytes", -1},
      {"nul \0 inside"s, "\0\xff\0"s, INT64_MAX},
      {"absent", "", std::nullopt},
  };
  Database database = with_table();
  Statement put = database.prepare("INSERT INTO item (name, bytes, size) VALUES (?1, ?2, ?3)");
  Statement get = database.prepare("SELECT bytes, size FROM item WHERE name = ?1");
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    ASSERT_TRUE(put.use(row.name, Blob{row.bytes}, row.size).run());
    Cursor back = get.use(row.name);
    ASSERT_TRUE(value(back.next()));
    EXPECT_EQ(back.blob(0), row.bytes);
    EXPECT_EQ(back.is_null(1), !row.size);
    EXPECT_EQ(back.integer(1), row.size.value_or(0));
    EXPECT_FALSE(back.is_null(0));
    EXPECT_FALSE(value(back.next()));
  }
}

TEST(Sqlite, EmptyViewsAreNotNull) {
  Database database = with_table();
  Statement put = database.prepare("INSERT INTO item (name, bytes, size) VALUES (?1, ?2, ?3)");
  ASSERT_TRUE(put.use(std::string_view{}, Blob{}, nullptr).run());
  Statement count = database.prepare(
      "SELECT count(*) FROM item WHERE name = '' AND bytes = x'' AND size IS NULL");
  Cursor row = count.use();
  ASSERT_TRUE(row.next());
  EXPECT_EQ(row.integer(0), 1);
}

TEST(Sqlite, AFileKeepsThePageSizeThatItWasCreatedWith) {
  const test::ScratchDir dir;
  const auto page_bytes = [&dir](const char* name, const DatabaseOptions& options) {
    Database database = value(Database::open(dir.path() / name, options));
    EXPECT_TRUE(database.execute("CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY) STRICT"));
    return value(database.pages()).bytes;
  };
  EXPECT_EQ(page_bytes("old.db", {}), 4096);
  EXPECT_EQ(page_bytes("old.db", cache_options()), 4096);
  EXPECT_EQ(page_bytes("new.db", cache_options()), 512);
}

TEST(Sqlite, ATransactionIsAllOrNothing) {
  Database database = with_table();
  {
    auto kept = database.begin();
    ASSERT_TRUE(kept);
    EXPECT_TRUE(database.in_transaction());
    ASSERT_TRUE(add(database, "kept"));
    ASSERT_TRUE(kept->commit());
    EXPECT_FALSE(database.in_transaction());
  }
  EXPECT_EQ(database.rollbacks(), 0u);
  {
    auto dropped = database.begin();
    ASSERT_TRUE(dropped);
    ASSERT_TRUE(add(database, "dropped"));
  }
  EXPECT_EQ(database.rollbacks(), 1u);
  EXPECT_EQ(names(database), std::vector<std::string>{"kept"});
}

TEST(Sqlite, ABrokenConstraintIsAConflictAndChangesNothing) {
  Database database = with_table();
  ASSERT_TRUE(add(database, "one"));
  const Status again = add(database, "one");
  EXPECT_EQ(said(again), "conflict: memory: UNIQUE constraint failed: item.name");
  EXPECT_EQ(again.error().cause.category().name(), "sqlite"s);
  EXPECT_EQ(names(database), std::vector<std::string>{"one"});
}

TEST(Sqlite, AStatementWhoseTableIsMissingMeansADamagedFile) {
  Database database = Database::in_memory();
  EXPECT_EQ(said(add(database, "one")), "corrupt: memory: no such table: item");
}

TEST(SqliteDeathTest, ABadStatementStopsTheProcess) {
  Database database = Database::in_memory();
  Statement bad = database.prepare("SELEKT 1");
  EXPECT_DEATH((void)bad.use().run(), "syntax error");
}

TEST(SqliteDeathTest, OneCursorAndOneTransactionAtATime) {
  Database database = with_table();
  ASSERT_TRUE(add(database, "one"));
  Statement all = database.prepare("SELECT name FROM item ORDER BY id");
  Cursor row = all.use();
  ASSERT_TRUE(row.next());
  EXPECT_DEATH((void)all.use(), "CHECK");
  auto transaction = database.begin();
  ASSERT_TRUE(transaction);
  EXPECT_DEATH((void)database.begin(), "CHECK");
}

TEST(Sqlite, AScriptThatCannotBeReadIsInvalid) {
  Database database = Database::in_memory();
  EXPECT_EQ(said(database.execute("CREATE TABLE a (b); NONSENSE;")),
            "invalid: memory: near \"NONSENSE\": syntax error");
}

TEST(Sqlite, FilesAreForTheirOwnerOnly) {
  const test::ScratchDir scratch;
  const auto file = scratch.path() / "a.db";
  auto database = Database::open(file, {.access = Access::shared});
  ASSERT_TRUE(database);
  ASSERT_TRUE(database->execute("CREATE TABLE item (name TEXT) STRICT"));
  for (const char* suffix : {"", "-wal", "-shm"}) {
    struct stat info {};
    ASSERT_EQ(stat((file.string() + suffix).c_str(), &info), 0) << suffix;
    EXPECT_EQ(info.st_mode & 0777u, 0600u) << suffix;
  }
}

TEST(Sqlite, AClosedFileKeepsItsRowsAndLeavesNoLog) {
  const test::ScratchDir scratch;
  const auto file = scratch.path() / "a.db";
  {
    auto database = Database::open(file, {.durability = Durability::relaxed});
    ASSERT_TRUE(database);
    ASSERT_TRUE(database->execute("CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT) STRICT"));
    auto transaction = database->begin(Durability::full);
    ASSERT_TRUE(transaction);
    ASSERT_TRUE(add(*database, "durable"));
    ASSERT_TRUE(transaction->commit());
    ASSERT_TRUE(add(*database, "relaxed again"));
    ASSERT_TRUE(database->quick_check());
    ASSERT_TRUE(database->trim(10));
  }
  EXPECT_FALSE(std::filesystem::exists(file.string() + "-wal"));
  auto database = Database::open(file, {.access = Access::read_only});
  ASSERT_TRUE(database);
  EXPECT_EQ(database->name(), "a.db");
  EXPECT_EQ(names(*database), (std::vector<std::string>{"durable", "relaxed again"}));
  EXPECT_EQ(said(add(*database, "no")), "unavailable: a.db: attempt to write a readonly database");
}

TEST(Sqlite, WhatADeadProcessLeftCanBeReadWithItsLog) {
  const test::ScratchDir scratch;
  const auto file = scratch.path() / "a.db";
  const auto left = scratch.path() / "left.db";
  Database writer = value(Database::open(file, {}));
  ASSERT_TRUE(writer.execute("CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT) STRICT"));
  ASSERT_TRUE(add(writer, "in the log"));
  for (const char* suffix : {"", "-wal"}) {
    std::filesystem::copy_file(file.string() + suffix, left.string() + suffix);
  }
  Database reader = value(Database::open(left, {.access = Access::read_only}));
  EXPECT_FALSE(reader.writable());
  EXPECT_EQ(names(reader), std::vector<std::string>{"in the log"});
}

TEST(Sqlite, OpenErrorsNameTheFile) {
  const test::ScratchDir scratch;
  std::filesystem::create_directory(scratch.path() / "folder.db");
  std::ofstream(scratch.path() / "text.db") << std::string(4096, 'x');
  const struct {
    std::string file;
    Errc code;
  } rows[] = {
      {"missing/a.db", Errc::unavailable},
      {"folder.db", Errc::denied},
      {"text.db", Errc::corrupt},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.file);
    const auto path = scratch.path() / row.file;
    const auto database = Database::open(path, hasty);
    ASSERT_FALSE(database);
    EXPECT_EQ(database.error().code, row.code);
    EXPECT_NE(database.error().what.find(path.string()), std::string::npos);
  }
}

TEST(Sqlite, WhoOpensAloneIsAlone) {
  const test::ScratchDir scratch;
  const auto file = scratch.path() / "a.db";
  auto first = Database::open(file, hasty);
  ASSERT_TRUE(first);
  for (const Access access : {Access::alone, Access::shared, Access::read_only}) {
    const auto second = Database::open(file, {.access = access, .busy_timeout = 0s});
    EXPECT_EQ(said(second),
              "unavailable: open " + file.string() + ": a.db: in use by another process");
  }
}

TEST(Sqlite, SharedFilesAreReadWhileOneWrites) {
  const test::ScratchDir scratch;
  const auto file = scratch.path() / "a.db";
  const DatabaseOptions shared{.access = Access::shared, .busy_timeout = 0s};
  auto writer = Database::open(file, shared);
  ASSERT_TRUE(writer);
  ASSERT_TRUE(writer->execute("CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT) STRICT"));
  ASSERT_TRUE(add(*writer, "old"));
  auto reader = Database::open(file, shared);
  ASSERT_TRUE(reader);
  auto transaction = writer->begin();
  ASSERT_TRUE(transaction);
  ASSERT_TRUE(add(*writer, "new"));
  EXPECT_EQ(names(*reader), std::vector<std::string>{"old"});
  EXPECT_EQ(said(reader->begin()), "unavailable: a.db: in use by another process");
  ASSERT_TRUE(transaction->commit());
  EXPECT_EQ(names(*reader), (std::vector<std::string>{"old", "new"}));
}

TEST(Sqlite, FilesThatOthersMayChangeAreNotOpened) {
  const test::ScratchDir scratch;
  const std::filesystem::path file = scratch.path() / "a.db";
  for (const char* suffix : {"", "-wal", "-shm", "-journal"}) {
    SCOPED_TRACE(suffix);
    const std::filesystem::path beside = file.string() + suffix;
    const std::filesystem::path elsewhere = scratch.path() / "elsewhere";
    std::ofstream(elsewhere) << "";
    std::filesystem::create_symlink(elsewhere, beside);
    const auto link = Database::open(file, hasty);
    ASSERT_FALSE(link);
    EXPECT_EQ(link.error().code, Errc::denied);
    EXPECT_NE(link.error().what.find(beside.string() + " is a symbolic link"), std::string::npos)
        << link.error().what;
    std::filesystem::remove(beside);
    std::ofstream(beside) << "";
    ASSERT_EQ(::chmod(beside.c_str(), 0620), 0);
    const auto open_to_all = Database::open(file, hasty);
    ASSERT_FALSE(open_to_all);
    EXPECT_EQ(open_to_all.error().code, Errc::denied);
    EXPECT_NE(open_to_all.error().what.find("has mode 0620"), std::string::npos);
    std::filesystem::remove(beside);
  }
  EXPECT_TRUE(Database::open(file, hasty));
}

}  // namespace
}  // namespace holdfast::store
