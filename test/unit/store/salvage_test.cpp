// Salvage from a damaged outbox: every readable entry is kept, in order.

#include "store/salvage.h"

#include <fstream>

#include "platform/random.h"
#include "store/answers.h"
#include "store/cache.h"
#include "store/recover.h"
#include "store/sequence.h"
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

TEST_F(SalvageTest, WhatIsBetweenTwoHolesIsCarriedOver) {
  fill();
  const std::uintmax_t size = fs::file_size(file_);
  for (std::uintmax_t hole = 2; hole <= 8; ++hole) scribble(size / 10 * hole, 4096);
  Salvaged salvaged;
  const std::vector<Entry> entries = salvage(salvaged);
  EXPECT_FALSE(salvaged.whole);
  // Seven pages with two entries each, or parts of them.
  EXPECT_GE(salvaged.entries, written - 7 * 3);
  EXPECT_LT(salvaged.entries, written);
  for (const Entry& entry : entries) EXPECT_EQ(entry.write.body, std::string(2000, 'b'));
}

TEST_F(SalvageTest, BothEndsMayBeDamaged) {
  fill();
  const std::uintmax_t size = fs::file_size(file_);
  // The first pages hold the schema and the roots of the tables.
  scribble(6 * 4096, 4096);
  scribble(size - 2 * 4096, 2 * 4096);
  Salvaged salvaged;
  const std::vector<Entry> entries = salvage(salvaged);
  EXPECT_GE(salvaged.entries, written - 3 * 3);
  EXPECT_LT(salvaged.entries, written);
  EXPECT_LT(static_cast<std::int64_t>(entries.front().id), 20);
  EXPECT_GT(static_cast<std::int64_t>(entries.back().id), written - 20);
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

// The checksum does not cover the id and the place. A number that leaves none for later entries
// must not be copied.
TEST_F(SalvageTest, DamagedNumbersAreRefused) {
  fill();
  {
    Database database = value(Database::open(file_, {}));
    ASSERT_EQ(said(database.execute("UPDATE entry SET place = 9223372036854775807 WHERE id = 7;"
                                    "UPDATE entry SET id = 9223372036854775806 WHERE id = 9;"
                                    "UPDATE entry SET id = -9 WHERE id = 10")),
              "ok");
  }
  Database fresh = Database::in_memory();
  ASSERT_EQ(said(migrate(fresh, outbox_schema())), "ok");
  const Salvaged salvaged = value(salvage_outbox(file_, fresh));
  EXPECT_EQ(salvaged.entries, written - 3);
  Journal journal(fresh);
  Outbox outbox = value(Outbox::open(fresh, journal));
  Transaction transaction = value(fresh.begin());
  EXPECT_EQ(value(outbox.add(transaction, patch("new", ""))).id, EntryId{written + 1});
}

TEST_F(SalvageTest, FromWhatIsNoDatabaseNothingIsCarriedOver) {
  std::ofstream(file_) << std::string(8192, 'x');
  Salvaged salvaged;
  EXPECT_EQ(salvage(salvaged), std::vector<Entry>{});
  EXPECT_EQ(salvaged, Salvaged{});
}

TEST_F(SalvageTest, AnswersAndCountersAreCarriedOver) {
  const auto answer_of = [](int number) {
    return Answer{.status = 201,
                  .content_type = "application/json",
                  .bytes = Random(static_cast<std::uint64_t>(number)).text(200, "0123456789"),
                  .expires = noon + std::chrono::seconds(number)};
  };
  {
    Database database = value(Database::open(file_, {.page_bytes = 512}));
    ASSERT_EQ(said(migrate(database, cache_schema())), "ok");
    Answers answers(database, {.first_owner = "node"});
    Sequence versions(database, "local version");
    EXPECT_EQ(value(versions.next()), 1);
    Transaction transaction = value(database.begin());
    for (int i = 0; i < 100; ++i) {
      ASSERT_TRUE(answers.put(transaction, "node", "token " + std::to_string(i), answer_of(i)));
    }
    ASSERT_EQ(said(transaction.commit()), "ok");
    ASSERT_EQ(said(database.execute("UPDATE answer SET bytes = x'00' WHERE key = 'token 50'")),
              "ok");
  }
  for (const bool is_damaged : {false, true}) {
    if (is_damaged) scribble(fs::file_size(file_) / 2, 512);
    Database fresh = Database::in_memory();
    ASSERT_EQ(said(migrate(fresh, cache_schema())), "ok");
    const Salvaged salvaged = value(salvage_answers(file_, fresh));
    EXPECT_EQ(salvaged.whole, !is_damaged);
    EXPECT_LE(salvaged.entries, is_damaged ? 98 : 99);
    EXPECT_GE(salvaged.entries, is_damaged ? 90 : 99);
    Answers answers(fresh);
    std::int64_t found = 0;
    for (int i = 0; i < 100; ++i) {
      const auto kept = value(answers.find("node", "token " + std::to_string(i)));
      if (!kept) continue;
      EXPECT_EQ(*kept, answer_of(i));
      ++found;
    }
    EXPECT_EQ(found, salvaged.entries);
    Sequence versions(fresh, "local version");
    EXPECT_EQ(value(versions.next()), 1001) << "the rest of the block is skipped";
  }
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
