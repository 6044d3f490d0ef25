// Sequence: numbers that never repeat, even if the process is killed.

#include "store/sequence.h"

#include "store/cache.h"
#include "test/unit/store/outcome.h"

namespace holdfast::store {
namespace {

class SequenceTest : public testing::Test {
 protected:
  SequenceTest() { EXPECT_EQ(said(migrate(database_, cache_schema())), "ok"); }

  Database database_ = Database::in_memory();
};

TEST_F(SequenceTest, GrowsByOneAndSkipsItsBlockAtARestart) {
  Sequence first(database_, "local", 3);
  for (const std::int64_t expected : {1, 2, 3, 4}) EXPECT_EQ(value(first.next()), expected);
  Sequence second(database_, "local", 3);
  EXPECT_EQ(value(second.next()), 7);
  Sequence unused(database_, "local", 3);
  Sequence third(database_, "local", 3);
  EXPECT_EQ(value(third.next()), 10);
  Sequence other(database_, "other", 3);
  EXPECT_EQ(value(other.next()), 1);
}

TEST_F(SequenceTest, AdvancesPastWhatOthersGaveOut) {
  Sequence sequence(database_, "local", 3);
  ASSERT_EQ(said(sequence.advance_past(100)), "ok");
  EXPECT_EQ(value(sequence.next()), 101);
  ASSERT_EQ(said(sequence.advance_past(50)), "ok");
  EXPECT_EQ(value(sequence.next()), 102);
  Sequence restarted(database_, "local", 3);
  EXPECT_EQ(value(restarted.next()), 104);
}

TEST_F(SequenceTest, KnowsWhatItMayHaveReturned) {
  Sequence sequence(database_, "local", 3);
  EXPECT_EQ(sequence.has_returned(1), false);
  EXPECT_EQ(value(sequence.next()), 1);
  const std::pair<std::int64_t, bool> rows[] = {{-1, false}, {0, false}, {1, true}, {2, false}};
  for (const auto& [number, returned] : rows) EXPECT_EQ(sequence.has_returned(number), returned);
  Sequence restarted(database_, "local", 3);
  EXPECT_EQ(restarted.has_returned(1), true);
  EXPECT_EQ(restarted.has_returned(3), true) << "skipped by the restart";
  EXPECT_EQ(restarted.has_returned(4), false);
}

TEST_F(SequenceTest, GivesNothingWhenItCannotReserve) {
  Sequence sequence(database_, "local", 3);
  ASSERT_EQ(said(database_.execute("DROP TABLE counter")), "ok");
  EXPECT_EQ(said(sequence.next()), "corrupt: memory: no such table: counter");
}

using SequenceDeathTest = SequenceTest;

TEST_F(SequenceDeathTest, AReservationMustNotBeRolledBack) {
  Sequence sequence(database_, "local", 3);
  const Transaction transaction = value(database_.begin());
  EXPECT_DEATH((void)sequence.next(), "CHECK");
}

}  // namespace
}  // namespace holdfast::store
