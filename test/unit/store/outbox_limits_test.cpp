// A full outbox: which entries are dropped, which writes are refused, and that its sums survive
// rollbacks.

#include "test/unit/store/outbox_fixture.h"

namespace holdfast::store {
namespace {

using Texts = std::vector<std::string>;

constexpr int droppable = 10;

class OutboxLimitsTest : public OutboxFixture {};

Write event(std::string name, std::string body = "e") {
  Write write = patch(std::move(name), std::move(body), "");
  write.urgency = droppable;
  return write;
}

// A write whose size counts as exactly `bytes`.
Write sized(std::string name, std::size_t bytes, int urgency = 0) {
  Write write{.object = {"", "", "", "", name, ""},
              .verb = "",
              .target = "",
              .content_type = "",
              .body = std::string(bytes - name.size(), 'x')};
  write.urgency = urgency;
  write.journalled = false;
  return write;
}

TEST_F(OutboxLimitsTest, TheOldestDroppableGoesFirst) {
  reopen({.entries = 4, .bytes = 1 << 20, .droppable_from = droppable});
  for (const char* name : {"e1", "e2"}) ASSERT_TRUE(add(event(name)));
  ASSERT_TRUE(add(patch("a", "1")));
  ASSERT_TRUE(add(event("e3")));

  EXPECT_EQ(value(add(patch("b", "1"))), (Added{EntryId{5}, {}, {EntryId{1}}}));
  EXPECT_EQ(value(add(event("e4"))), (Added{EntryId{6}, {}, {EntryId{2}}}));
  EXPECT_EQ(waiting(), (Texts{"a:1", "e3:e", "b:1", "e4:e"}));
  EXPECT_EQ(told(),
            (Texts{"1 write-accepted", "2 write-accepted", "3 write-accepted", "4 write-accepted",
                   "1 write-dropped", "5 write-accepted", "2 write-dropped", "6 write-accepted"}));
}

TEST_F(OutboxLimitsTest, WithoutDroppableOnesANewWriteIsRefused) {
  reopen({.entries = 2, .bytes = 1 << 20, .droppable_from = droppable});
  ASSERT_TRUE(add(event("e1")));
  ASSERT_TRUE(add(event("e2")));
  ASSERT_EQ(said(mark_sending(1)), "ok");  // being sent: too late to drop it
  EXPECT_EQ(value(add(patch("a", "1"))).dropped, std::vector{EntryId{2}});
  EXPECT_EQ(said(add(patch("b", "1"))), "exhausted: the outbox is full");
  EXPECT_EQ(said(add(event("e3"))), "exhausted: the outbox is full");
  EXPECT_EQ(waiting(), (Texts{"e1:e", "a:1"}));

  EXPECT_EQ(value(add(patch("a", "2"), Coalesce::replace)).superseded, EntryId{3});
  EXPECT_EQ(waiting(), (Texts{"e1:e", "a:2"}));
}

TEST_F(OutboxLimitsTest, BytesCountLikeEntries) {
  reopen({.entries = 100, .bytes = 1000, .droppable_from = droppable});
  ASSERT_TRUE(add(sized("e1", 300, droppable)));
  ASSERT_TRUE(add(sized("a", 300)));
  ASSERT_TRUE(add(sized("e2", 300, droppable)));
  EXPECT_EQ(value(outbox_->size()), (OutboxSize{3, 900}));
  EXPECT_EQ(value(add(sized("b", 100))).dropped, std::vector<EntryId>{});
  EXPECT_EQ(value(add(sized("c", 1))).dropped, std::vector{EntryId{1}});
  EXPECT_EQ(value(outbox_->size()), (OutboxSize{4, 701}));

  // A write that cannot fit is refused and nothing is dropped for it.
  EXPECT_EQ(said(add(sized("d", 600))), "exhausted: the outbox is full");
  EXPECT_EQ(value(outbox_->size()), (OutboxSize{4, 701}));
  EXPECT_EQ(said(add(sized("d", 1001))), "exhausted: the outbox is full");
  EXPECT_EQ(value(add(sized("d", 599))).dropped, std::vector{EntryId{3}});
  EXPECT_EQ(value(outbox_->size()), (OutboxSize{4, 1000}));
}

TEST_F(OutboxLimitsTest, SumsAreRightAfterARollbackAndARestart) {
  ASSERT_TRUE(add(sized("a", 10)));
  {
    Transaction transaction = value(database_.begin());
    ASSERT_TRUE(outbox_->add(transaction, sized("b", 20)));
    EXPECT_EQ(value(outbox_->size()), (OutboxSize{2, 30}));
  }
  EXPECT_EQ(value(outbox_->size()), (OutboxSize{1, 10}));
  ASSERT_TRUE(add(sized("c", 5)));
  ASSERT_EQ(said(settle(1, Outcome::applied)), "ok");
  reopen();
  EXPECT_EQ(value(outbox_->size()), (OutboxSize{1, 5}));
}

TEST_F(OutboxLimitsTest, AWriteAndWhatItCausedAreOneTransaction) {
  {
    Transaction transaction = value(database_.begin());
    ASSERT_TRUE(outbox_->add(transaction, patch("a", "1")));
    ASSERT_TRUE(journal_->append(transaction, {.kind = "link", .subject = "upstream"}));
  }
  EXPECT_EQ(waiting(), Texts{});
  EXPECT_EQ(told(), Texts{});
}

}  // namespace
}  // namespace holdfast::store
