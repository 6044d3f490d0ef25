// The journal: a ring of records that can be read from any record on and by subject.

#include "store/journal.h"

#include "store/outbox.h"
#include "test/unit/store/outcome.h"

namespace holdfast::store {
namespace {

using namespace std::chrono_literals;

class JournalTest : public testing::Test {
 protected:
  JournalTest() { EXPECT_EQ(said(migrate(database_, outbox_schema())), "ok"); }

  Result<std::int64_t> append(Journal& journal, const Record& record) {
    TRY(Transaction transaction, database_.begin());
    TRY(const std::int64_t seq, journal.append(transaction, record));
    if (auto done = transaction.commit(); !done) return fail(done.error());
    return seq;
  }

  std::vector<std::int64_t> seqs(Journal& journal, const JournalQuery& query) {
    std::vector<std::int64_t> found;
    for (const Record& record : value(journal.read(query))) found.push_back(record.seq);
    return found;
  }

  Database database_ = Database::in_memory();
};

using Seqs = std::vector<std::int64_t>;

TEST_F(JournalTest, RecordsComeBackWhole) {
  Journal journal(database_);
  Record record{99, WallTime{5s}, "link", "upstream", "offline", R"({"after":"3s"})", 0};
  EXPECT_EQ(value(journal.newest()), 0);
  EXPECT_EQ(value(append(journal, record)), 1);
  record.seq = 1;
  EXPECT_EQ(value(journal.read({})), std::vector{record});
  EXPECT_EQ(value(journal.newest()), 1);
}

TEST_F(JournalTest, IsARing) {
  Journal journal(database_, {.rows = 3});
  for (int i = 1; i <= 5; ++i) EXPECT_EQ(value(append(journal, {.kind = "k"})), i);
  EXPECT_EQ(seqs(journal, {}), (Seqs{3, 4, 5}));
  Journal smaller(database_, {.rows = 1});
  EXPECT_EQ(value(append(smaller, {.kind = "k"})), 6);
  EXPECT_EQ(seqs(smaller, {}), Seqs{6});
}

TEST_F(JournalTest, IsReadInPartsAndBySubject) {
  Journal journal(database_);
  for (const char* subject : {"a", "b", "a", "b", "a"}) {
    ASSERT_TRUE(append(journal, {.kind = "k", .subject = subject}));
  }
  EXPECT_EQ(seqs(journal, {.from = 3}), (Seqs{3, 4, 5}));
  EXPECT_EQ(seqs(journal, {.from = 2, .limit = 2}), (Seqs{2, 3}));
  EXPECT_EQ(seqs(journal, {.subject = "a"}), (Seqs{1, 3, 5}));
  EXPECT_EQ(seqs(journal, {.from = 2, .limit = 1, .subject = "a"}), Seqs{3});
  EXPECT_EQ(seqs(journal, {.from = 6}), Seqs{});
}

TEST_F(JournalTest, LongDetailsAreCut) {
  Journal journal(database_, {.detail_bytes = 10});
  ASSERT_TRUE(append(journal, {.kind = "k", .detail = "1234567890"}));
  ASSERT_TRUE(append(journal, {.kind = "k", .detail = "12345678901"}));
  const auto records = value(journal.read({}));
  EXPECT_EQ(records.at(0).detail, "1234567890");
  EXPECT_EQ(records.at(1).detail, R"({"cut":11})");
}

}  // namespace
}  // namespace holdfast::store
