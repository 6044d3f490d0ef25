// Tests the fault VFS itself: its counts, when failures begin and end, and what a power cut leaves.

#include "test/support/fault_vfs.h"

#include "store/sqlite.h"
#include "test/support/scratch_dir.h"
#include "test/unit/store/outcome.h"

namespace holdfast::store {
namespace {

using test::DiskFault;
using test::Lost;

class FaultVfsTest : public testing::Test {
 protected:
  Database open(const std::string& vfs = "fault") {
    return value(Database::open(file_, {.durability = Durability::relaxed, .vfs = vfs}));
  }

  std::int64_t rows() {
    Database database = open("");
    Statement count = database.prepare("SELECT count(*) FROM item");
    Cursor row = count.use();
    EXPECT_TRUE(value(row.next()));
    return row.integer(0);
  }

  test::ScratchDir scratch_;
  std::filesystem::path file_ = scratch_.path() / "a.db";
};

constexpr const char* table = "CREATE TABLE item (name TEXT) STRICT";
constexpr const char* insert = "INSERT INTO item (name) VALUES ('x')";

TEST_F(FaultVfsTest, CountsWhatReachesTheDisk) {
  test::follow({});
  {
    Database database = open();
    ASSERT_EQ(said(database.execute(table)), "ok");
    const test::FaultCounts before = test::fault_counts();
    ASSERT_EQ(said(database.execute(insert)), "ok");
    const test::FaultCounts after = test::fault_counts();
    EXPECT_EQ(after.writes - before.writes, 2);  // a frame's header and its page
    EXPECT_EQ(after.bytes - before.bytes, 24 + 4096);
    EXPECT_EQ(after.syncs - before.syncs, 0);
  }
  EXPECT_GT(test::fault_counts().syncs, 0);
  EXPECT_EQ(rows(), 1);
}

TEST_F(FaultVfsTest, FailsAsPlannedAndNoLonger) {
  const struct {
    DiskFault fault;
    std::string said;
  } faults[] = {
      {DiskFault::full, "exhausted: a.db: database or disk is full"},
      {DiskFault::broken, "unavailable: a.db: disk I/O error"},
  };
  test::follow({});
  Database database = open();
  ASSERT_EQ(said(database.execute(table)), "ok");
  for (const auto& row : faults) {
    test::follow({.fail_from = 1, .fail_steps = 1, .fault = row.fault, .tear = true});
    EXPECT_EQ(said(database.execute(insert)), row.said);
    EXPECT_EQ(said(database.execute(insert)), "ok");
    test::follow({.fail_from = 1, .fault = row.fault});
    EXPECT_EQ(said(database.execute(insert)), row.said);
    EXPECT_EQ(said(database.execute(insert)), row.said);
    test::follow({});
    EXPECT_EQ(said(database.execute(insert)), "ok");
  }
}

TEST_F(FaultVfsTest, APowerCutLosesWhatWasNotSynced) {
  test::follow({.keep_synced = true});
  auto database = std::make_unique<Database>(open());
  ASSERT_EQ(said(database->execute(table)), "ok");
  {
    Transaction durable = value(database->begin(Durability::full));
    ASSERT_EQ(said(database->execute(insert)), "ok");
    ASSERT_EQ(said(durable.commit()), "ok");
  }
  Transaction relaxed = value(database->begin());
  ASSERT_EQ(said(database->execute(insert)), "ok");
  ASSERT_EQ(said(relaxed.commit()), "ok");

  // Copies the files as of this moment, as after a power cut: later writes of the process must not
  // count.
  const auto copy = scratch_.path() / "copy.db";
  for (const std::string suffix : {"", "-wal", ".synced", "-wal.synced"}) {
    if (!std::filesystem::exists(file_.string() + suffix)) continue;
    std::filesystem::copy_file(file_.string() + suffix, copy.string() + suffix);
  }
  test::lose_unsynced(copy, Lost::both);
  file_ = copy;
  EXPECT_EQ(rows(), 1);
  test::follow({});
}

}  // namespace
}  // namespace holdfast::store
