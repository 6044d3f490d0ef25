// A database that replaces its damaged file.

#include "store/self_repairing.h"

#include <gtest/gtest.h>

#include <fstream>

#include "platform/integers.h"
#include "store/cache.h"
#include "store/copy.h"
#include "test/support/fault_vfs.h"
#include "test/support/scratch_dir.h"
#include "test/support/virtual_time.h"
#include "test/unit/store/outcome.h"

namespace holdfast::store {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

class SelfRepairing : public testing::Test {
 protected:
  SelfRepairingDatabase::User user() {
    return {.begin = [this](Database& database, const std::optional<Damage>& damage) -> Status {
              told_ += damage ? "begin-anew " : "begin ";
              if (!next_begin_) return std::exchange(next_begin_, Status());
              insert_.emplace(database.prepare("INSERT INTO counter (name, value) VALUES (?1, 1)"));
              return {};
            },
            .end =
                [this] {
                  told_ += "end ";
                  insert_.reset();
                },
            .replaced = [this](const Error&) { told_ += "replaced "; }};
  }
  Status add(SelfRepairingDatabase& file) {
    return file.run([this, &file]() -> Status {
      TRY(Transaction transaction, file.database().begin());
      if (auto done = insert_->use("n" + std::to_string(++added_)).run(); !done) return done;
      return transaction.commit();
    });
  }
  static std::int64_t counters(Database& database) {
    Statement count = database.prepare("SELECT count(*) FROM counter");
    Cursor row = count.use();
    EXPECT_TRUE(value(row.next()));
    return row.integer(0);
  }
  enum class Harm { scribbled, truncated };
  void harm(SelfRepairingDatabase& database, Harm harm = Harm::scribbled) {
    EXPECT_TRUE(database.database().execute("PRAGMA shrink_memory"));  // reads the file again
    for (const char* suffix : {"", "-wal"}) {
      const std::string path = path_.string() + suffix;
      const std::size_t size = to_size(fs::file_size(path));
      std::ofstream out(path, std::ios::binary);  // truncates it
      if (harm == Harm::scribbled) out << std::string(size, '\xa5');
    }
  }
  std::string told() { return std::exchange(told_, {}); }

  test::ScratchDir scratch_;
  fs::path path_ = scratch_.path() / "cache.db";
  test::VirtualClock clock_;
  const SelfRepairingDatabase::File file_{path_, {}, cache_schema()};
  std::optional<Statement> insert_;
  Status next_begin_;
  int added_ = 0;
  std::string told_;
};

TEST_F(SelfRepairing, ThreeReplacementsMayFollowEachOtherAndOneMoreEachMinute) {
  SelfRepairingDatabase file(file_, clock_, user());
  ASSERT_EQ(said(file.open()), "ok");
  EXPECT_EQ(said(add(file)), "ok");
  EXPECT_EQ(told(), "begin ");
  for (std::uint64_t i = 1; i <= 3; ++i) {
    harm(file);
    EXPECT_EQ(said(add(file)), "ok");
    EXPECT_EQ(told(), "end begin-anew replaced ");
    EXPECT_EQ(file.replacements(), i);
  }
  harm(file);
  EXPECT_TRUE(said(add(file)).starts_with("corrupt")) << said(add(file));
  clock_.advance(59s);
  EXPECT_TRUE(said(add(file)).starts_with("corrupt"));
  EXPECT_EQ(told(), "");
  clock_.advance(1s);
  EXPECT_EQ(said(add(file)), "ok");
  EXPECT_EQ(told(), "end begin-anew replaced ");
}

TEST_F(SelfRepairing, AReplacementThatFailsIsTriedAgainWithTheSameDamage) {
  SelfRepairingDatabase file(file_, clock_, user());
  ASSERT_EQ(said(file.open()), "ok");
  harm(file);
  EXPECT_EQ(told(), "begin ");
  next_begin_ = fail(Errc::exhausted, "full");
  EXPECT_EQ(said(add(file)), "exhausted: full");
  EXPECT_EQ(told(), "end begin-anew ");
  EXPECT_EQ(said(add(file)), "ok");
  EXPECT_EQ(told(), "end begin-anew replaced ");
  EXPECT_EQ(file.replacements(), 1u);
}

TEST_F(SelfRepairing, AFileThatWasTruncatedIsReplaced) {
  SelfRepairingDatabase file(file_, clock_, user());
  ASSERT_EQ(said(file.open()), "ok");
  harm(file, Harm::truncated);
  EXPECT_EQ(said(add(file)), "ok");
  EXPECT_EQ(told(), "begin end begin-anew replaced ");
}

TEST_F(SelfRepairing, AFileThatWasMovedOrRemovedIsCopiedToItsPlace) {
  SelfRepairingDatabase file(file_, clock_, user());
  ASSERT_EQ(said(file.open()), "ok");
  EXPECT_EQ(said(add(file)), "ok");
  fs::remove(path_);
  EXPECT_EQ(said(add(file)), "ok");
  EXPECT_EQ(told(), "begin end begin replaced ");
  EXPECT_EQ(fs::status(path_).permissions(), fs::perms(0600));
  for (const char* suffix : {"", "-wal"}) {
    fs::rename(path_.string() + suffix, path_.string() + ".moved" + suffix);
  }
  EXPECT_EQ(said(add(file)), "ok");
  EXPECT_EQ(counters(file.database()), 3);
}

// SQLite would apply the log of the removed file to the copy.
TEST_F(SelfRepairing, TheLogOfARemovedFileIsNotTakenForThatOfItsCopy) {
  for (const bool is_replaced : {false, true}) {
    SCOPED_TRACE(is_replaced);
    SelfRepairingDatabase file(file_, clock_, user());
    ASSERT_EQ(said(file.open()), "ok");
    const auto put = [&file](int from, int to) {
      return said(file.run([&]() -> Status {
        TRY(Transaction in, file.database().begin());
        const std::string rows =
            "WITH RECURSIVE n(i) AS (SELECT " + std::to_string(from) +
            " UNION ALL SELECT i + 1 FROM n WHERE i < " + std::to_string(to) +
            ") INSERT INTO counter SELECT 'row' || i || hex(zeroblob(500)), i FROM n";
        if (auto done = file.database().execute(rows); !done) return done;
        return in.commit();
      }));
    };
    ASSERT_EQ(put(0, 300), "ok");
    ASSERT_TRUE(file.database().execute("DELETE FROM counter WHERE value % 3 = 0"));
    const std::int64_t rows = counters(file.database());
    const fs::path backup = path_.string() + ".backup";
    ASSERT_EQ(said(copy_database(file.database(), backup)), "ok");
    ASSERT_EQ(put(1000, 1300), "ok");
    fs::remove(path_);
    if (is_replaced) fs::rename(backup, path_);
    ASSERT_EQ(put(2000, 2000), "ok");
    EXPECT_EQ(said(file.database().quick_check()), "ok");
    EXPECT_EQ(counters(file.database()), rows + 1 + (is_replaced ? 0 : 301));
    fs::remove(backup);
    fs::remove(path_);
  }
}

TEST_F(SelfRepairing, ACopyThatFailsLeavesNothingAndIsTriedAgain) {
  test::follow({.fail_from = 1, .fault = test::DiskFault::full, .within = ".copy"});
  SelfRepairingDatabase file({path_, {.vfs = "fault"}, cache_schema()}, clock_, user());
  ASSERT_EQ(said(file.open()), "ok");
  EXPECT_EQ(said(add(file)), "ok");
  fs::remove(path_);
  EXPECT_TRUE(said(add(file)).starts_with("exhausted")) << said(add(file));
  EXPECT_FALSE(fs::exists(path_));
  EXPECT_FALSE(fs::exists(path_.string() + ".copy"));
  EXPECT_EQ(counters(file.database()), 1) << "it can still be read";
  test::follow({});
  EXPECT_EQ(said(add(file)), "ok");
  EXPECT_EQ(counters(file.database()), 2);
}

// As an operator who restores a backup does.
TEST_F(SelfRepairing, AFileThatTookThePlaceOfAnotherIsOpened) {
  SelfRepairingDatabase file(file_, clock_, user());
  ASSERT_EQ(said(file.open()), "ok");
  EXPECT_EQ(said(add(file)), "ok");
  ASSERT_EQ(said(copy_database(file.database(), path_.string() + ".backup")), "ok");
  EXPECT_EQ(said(add(file)), "ok");
  EXPECT_EQ(counters(file.database()), 2);
  fs::remove(path_.string() + "-wal");
  fs::rename(path_.string() + ".backup", path_);
  EXPECT_EQ(said(add(file)), "ok");
  EXPECT_EQ(counters(file.database()), 2);
  EXPECT_EQ(said(copy_database(file.database(), path_)), "conflict: " + path_.string() + " exists");
}

TEST_F(SelfRepairing, OtherErrorsReplaceNothing) {
  SelfRepairingDatabase file(file_, clock_, user());
  ASSERT_EQ(said(file.open()), "ok");
  const auto fails = [&file](const Error& error) {
    return said(file.run([&error]() -> Status { return fail(error); }));
  };
  EXPECT_EQ(fails({Errc::exhausted, "full"}), "exhausted: full");
  EXPECT_EQ(fails({Errc::corrupt, "checksum"}), "corrupt: checksum");
  EXPECT_EQ(told(), "begin ");

  SelfRepairingDatabase lent(value(Database::open(scratch_.path() / "lent.db", {})), clock_,
                             user());
  ASSERT_EQ(said(lent.open()), "ok");
  EXPECT_EQ(said(lent.replace({Errc::corrupt, "checksum"})), "corrupt: checksum");
  EXPECT_EQ(lent.replacements(), 0u);
}

}  // namespace
}  // namespace holdfast::store
