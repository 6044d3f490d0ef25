// Salvage from a damaged outbox: every readable entry is kept, in order.

#include "store/salvage.h"

#include <fstream>

#include "store/recover.h"
#include "test/support/scratch_dir.h"
#include "test/unit/store/outbox_fixture.h"

namespace holdfast::store {
namespace {

namespace fs = std::filesystem;

constexpr int written = 400;

class SalvageTest : public testing::Test {
 protected:
  // Adds entries 1 to `written`, each about half a page long; the first one is being sent.
  void fill() {
    Database database = value(Database::open(file_, {.durability = Durability::relaxed}));
    ASSERT_EQ(said(migrate(database, outbox_schema())), "ok");
    Journal journal(database);
    Outbox outbox = value(Outbox::open(database, journal));
    Transaction transaction = value(database.begin());
    for (int i = 1; i <= written; ++i) {
      Write write = patch("p" + std::to_string(i), std::string(2000, 'b'));
      write.journalled = false;
      ASSERT_TRUE(outbox.add(transaction, write));
    }
    ASSERT_EQ(said(outbox.mark_sending(transaction, EntryId{1})), "ok");
    ASSERT_EQ(said(transaction.commit()), "ok");
  }

  void scribble(std::uintmax_t at, std::size_t size) {
    std::fstream out(file_, std::ios::binary | std::ios::in | std::ios::out);
    out.seekp(static_cast<std::streamoff>(at));
    out << std::string(size, '\xa5');
  }

  // The entries in a new outbox after the salvage.
  std::vector<Entry> salvage(Salvaged& salvaged) {
    Database fresh = Database::in_memory();
    EXPECT_EQ(said(migrate(fresh, outbox_schema())), "ok");
    salvaged = value(salvage_outbox(file_, fresh));
    Journal journal(fresh);
    Outbox outbox = value(Outbox::open(fresh, journal));
    return value(outbox.list(10'000));
  }

  test::ScratchDir scratch_;
  fs::path file_ = scratch_.path() / "outbox.db";
};

TEST_F(SalvageTest, ASoundFileIsCarriedOverWhole) {
  fill();
  Salvaged salvaged;
  const std::vector<Entry> entries = salvage(salvaged);
  EXPECT_EQ(salvaged, (Salvaged{written, 0, true}));
  ASSERT_EQ(entries.size(), static_cast<std::size_t>(written));
  Write first = patch("p1", std::string(2000, 'b'));
  first.journalled = false;
  EXPECT_EQ(entries.front(), (Entry{EntryId{1}, first, false, true, 1, false}));
  EXPECT_EQ(entries.back().id, EntryId{written});
  EXPECT_FALSE(entries.back().maybe_sent);
}

TEST_F(SalvageTest, BothEndsOfAHoleAreCarriedOver) {
  fill();
  scribble(fs::file_size(file_) / 2, 3 * 4096);
  Salvaged salvaged;
  const std::vector<Entry> entries = salvage(salvaged);
  EXPECT_FALSE(salvaged.whole);
  EXPECT_GT(salvaged.entries, written * 9 / 10);
  EXPECT_LT(salvaged.entries, written);
  EXPECT_EQ(entries.front().id, EntryId{1});
  EXPECT_EQ(entries.back().id, EntryId{written});
  for (std::size_t i = 1; i < entries.size(); ++i) EXPECT_LT(entries[i - 1].id, entries[i].id);
  for (const Entry& entry : entries) EXPECT_EQ(entry.write.body, std::string(2000, 'b'));
}

TEST_F(SalvageTest, ScribbledBodiesAreRefused) {
  fill();
  {
    Database database = value(Database::open(file_, {}));
    ASSERT_EQ(said(database.execute("UPDATE entry SET body = x'00' WHERE id IN (7, 9)")), "ok");
  }
  Salvaged salvaged;
  EXPECT_EQ(salvage(salvaged).size(), static_cast<std::size_t>(written - 2));
  EXPECT_EQ(salvaged, (Salvaged{written - 2, 2, true}));
}

TEST_F(SalvageTest, FromWhatIsNoDatabaseNothingIsCarriedOver) {
  std::ofstream(file_) << std::string(8192, 'x');
  Salvaged salvaged;
  EXPECT_EQ(salvage(salvaged), std::vector<Entry>{});
  EXPECT_EQ(salvaged, Salvaged{});
}

TEST_F(SalvageTest, RecoveryAndSalvageGoTogether) {
  fill();
  scribble(fs::file_size(file_) / 2, 4096);
  std::ofstream(file_.string() + "-wal") << "not a log, but a sign of disorder";
  Recovered recovered = value(open_or_rebuild(file_, {}, outbox_schema(), noon));
  ASSERT_TRUE(recovered.damage);
  const Salvaged salvaged = value(salvage_outbox(recovered.damage->file, recovered.database));
  EXPECT_GT(salvaged.entries, written * 9 / 10);
  Journal journal(recovered.database);
  Outbox outbox = value(Outbox::open(recovered.database, journal));
  EXPECT_EQ(value(outbox.size()).entries, salvaged.entries);
  Transaction transaction = value(recovered.database.begin());
  EXPECT_EQ(value(outbox.add(transaction, patch("new", ""))).id, EntryId{written + 1});
}

}  // namespace
}  // namespace holdfast::store
