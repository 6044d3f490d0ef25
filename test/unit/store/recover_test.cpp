// Opening a file in any state: a damaged file is quarantined, and files of other or newer programs
// are refused.

#include "store/recover.h"

#include <fstream>
#include <set>

#include "store/cache.h"
#include "store/outbox.h"
#include "test/support/scratch_dir.h"
#include "test/unit/store/outcome.h"

namespace holdfast::store {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class RecoverTest : public testing::Test {
 protected:
  Result<Recovered> open(WallTime now = WallTime{100s}) {
    return open_or_rebuild(file_, {.durability = Durability::relaxed}, cache_schema(), now);
  }

  std::set<std::string> files() {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(scratch_.path())) {
      names.insert(entry.path().filename().string());
    }
    return names;
  }

  void write(const std::string& content, const char* suffix = "") {
    std::ofstream(file_.string() + suffix, std::ios::binary) << content;
  }

  test::ScratchDir scratch_;
  fs::path file_ = scratch_.path() / "cache.db";
};

using Names = std::set<std::string>;

TEST_F(RecoverTest, ANewFileAndASoundOneAreNoDamage) {
  for (int i = 0; i < 2; ++i) {
    const Recovered recovered = value(open());
    EXPECT_FALSE(recovered.damage);
  }
  EXPECT_EQ(files(), Names{"cache.db"});
}

TEST_F(RecoverTest, ADamagedFileIsSetAsideAndAFreshOneMade) {
  write(std::string(8192, 'x'));
  const Recovered recovered = value(open());
  ASSERT_TRUE(recovered.damage);
  EXPECT_EQ(recovered.damage->file, file_.string() + ".damaged-100");
  EXPECT_EQ(recovered.damage->why, "open " + file_.string() + ": cache.db: file is not a database");
  EXPECT_EQ(files(), (Names{"cache.db", "cache.db-wal", "cache.db.damaged-100"}));
}

TEST_F(RecoverTest, OnlyTheNewestDamagedFilesAreKept) {
  // The last time is from a clock that was never set.
  for (const auto at : {300s, 100s, 200s, 400s, 5s}) {
    write(std::string(8192, 'x'));
    write("log", "-wal");
    EXPECT_EQ(value(set_aside(file_, WallTime{at})),
              file_.string() + ".damaged-" + std::to_string(at.count()));
  }
  EXPECT_EQ(files(), (Names{"cache.db.damaged-5", "cache.db.damaged-5-wal",  //
                            "cache.db.damaged-300", "cache.db.damaged-300-wal",
                            "cache.db.damaged-400", "cache.db.damaged-400-wal"}));
}

TEST_F(RecoverTest, TwoInOneSecondAreBothKept) {
  for (int i = 0; i < 2; ++i) {
    write(std::string(8192, 'x'));
    ASSERT_EQ(said(open()), "ok");
  }
  EXPECT_EQ(files(), (Names{"cache.db", "cache.db.damaged-100", "cache.db.damaged-101"}));
}

TEST_F(RecoverTest, WhatIsNoDamageIsRefusedAndLeftAlone) {
  const struct {
    std::string name;
    std::string script;
    std::string said;
  } rows[] = {
      {"another program's", "CREATE TABLE bookmarks (url TEXT)",
       "invalid: cache.db is another program's database"},
      {"a newer program's",
       "CREATE TABLE meta (kind TEXT, version INTEGER, compatible_from INTEGER);"
       "CREATE TABLE rollback (version INTEGER PRIMARY KEY, down TEXT);"
       "INSERT INTO meta VALUES ('cache', 7, 7)",
       "invalid: cache.db has schema 7 of a newer program; this one knows up to " +
           std::to_string(cache_schema().version())},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    fs::remove(file_);
    {
      Database database = value(Database::open(file_, {}));
      ASSERT_EQ(said(database.execute(row.script)), "ok");
    }
    EXPECT_EQ(said(open()), row.said);
    EXPECT_EQ(files(), Names{"cache.db"});
  }
}

TEST_F(RecoverTest, AFileInUseIsNoDamage) {
  const Recovered first = value(open());
  EXPECT_EQ(said(open_or_rebuild(file_, {.busy_timeout = 0s}, cache_schema(), WallTime{100s})),
            "unavailable: open " + file_.string() + ": cache.db: in use by another process");
  EXPECT_EQ(files(), (Names{"cache.db", "cache.db-wal"}));
}

TEST_F(RecoverTest, AMissingTableIsDamage) {
  {
    Recovered recovered = value(open());
    ASSERT_EQ(said(recovered.database.execute("DELETE FROM meta")), "ok");
  }
  const Recovered recovered = value(open());
  ASSERT_TRUE(recovered.damage);
  EXPECT_EQ(recovered.damage->why, "cache.db: meta is empty");
}

}  // namespace
}  // namespace holdfast::store
