// The outbox: order per object, superseding, attempts and their results, and the journal's records.

#include "store/outbox.h"

#include "test/support/scratch_dir.h"
#include "test/unit/store/outbox_fixture.h"

namespace holdfast::store {
namespace {

using Texts = std::vector<std::string>;

class OutboxTest : public OutboxFixture {};

// The oldest entry that may be sent.
std::optional<Entry> first(Outbox& outbox) {
  auto page = value(outbox.sendable(0, 1));
  if (page.entries.empty()) return std::nullopt;
  return std::move(page.entries.front());
}

// Takes all entries that may be sent, in order, like a sender that always succeeds.
Texts drain(Outbox& outbox, Database& database) {
  Texts sent;
  while (const auto entry = first(outbox)) {
    sent.push_back(entry->write.object.name + ":" + entry->write.body);
    Transaction transaction = value(database.begin());
    EXPECT_EQ(said(outbox.settle(transaction, entry->id, Outcome::applied, noon)), "ok");
    EXPECT_EQ(said(transaction.commit()), "ok");
  }
  return sent;
}

TEST_F(OutboxTest, AnEntryComesBackWhole) {
  Write write = patch("a", std::string("\0body\xff", 6));
  write.urgency = 3;
  write.journalled = false;
  EXPECT_EQ(value(add(write)), Added{EntryId{1}});
  EXPECT_EQ(first(*outbox_), (Entry{.id = EntryId{1}, .write = write}));
  EXPECT_EQ(value(outbox_->list(10)), (std::vector{Entry{.id = EntryId{1}, .write = write}}));
  EXPECT_EQ(told(), Texts{});
}

TEST_F(OutboxTest, TheOldestComesFirst) {
  for (const char* name : {"a", "b", "a", "c"}) ASSERT_TRUE(add(patch(name, "x")));
  EXPECT_EQ(drain(*outbox_, database_), (Texts{"a:x", "b:x", "a:x", "c:x"}));
  EXPECT_EQ(first(*outbox_), std::nullopt);
}

TEST_F(OutboxTest, WhatMayBeSentComesInPages) {
  for (const char* name : {"a", "b", "a", "c", "d"}) ASSERT_TRUE(add(patch(name, "x")));
  ASSERT_EQ(said(mark_sending(2)), "ok");
  const auto names = [](const Outbox::Page& page) {
    Texts all;
    for (const Entry& entry : page.entries) all.push_back(entry.write.object.name);
    return all;
  };
  const Outbox::Page first = value(outbox_->sendable(0, 2));
  EXPECT_EQ(names(first), (Texts{"a", "c"}));
  const Outbox::Page second = value(outbox_->sendable(first.after, 2));
  EXPECT_EQ(names(second), Texts{"d"});
  EXPECT_EQ(second.after, 0) << "it was the last page";
  ASSERT_EQ(said(mark_sending(1)), "ok");
  ASSERT_EQ(said(settle(1, Outcome::applied)), "ok");
  EXPECT_EQ(names(value(outbox_->sendable(0, 9))), (Texts{"a", "c", "d"}));
}

TEST_F(OutboxTest, WritesToOneObjectNeverOvertakeEachOther) {
  Write other_version = patch("a", "2", "");
  other_version.object.version = "v2";
  ASSERT_TRUE(add(patch("a", "1")));
  ASSERT_TRUE(add(other_version));
  ASSERT_TRUE(add(patch("b", "3")));

  ASSERT_EQ(said(mark_sending(1)), "ok");
  EXPECT_EQ(first(*outbox_)->write.body, "3");
  EXPECT_EQ(said(mark_sending(1)), "conflict: outbox entry 1 is being sent already");
  EXPECT_EQ(said(mark_sending(2)),
            "conflict: outbox entry 2 must wait for an older one of its object");
  EXPECT_EQ(said(mark_sending(9)), "not_found: outbox entry 9");

  ASSERT_EQ(said(requeue(1, Attempt::not_sent)), "ok");
  EXPECT_EQ(first(*outbox_)->write.body, "1");
  ASSERT_EQ(said(settle(1, Outcome::applied)), "ok");
  EXPECT_EQ(first(*outbox_)->write.body, "2");
}

TEST_F(OutboxTest, ANewerWriteSupersedesAnUnsentOneInItsPlace) {
  ASSERT_TRUE(add(patch("a", "1")));
  ASSERT_TRUE(add(patch("b", "1")));
  EXPECT_EQ(value(add(patch("a", "2"), Coalesce::replace)), (Added{EntryId{3}, EntryId{1}}));
  EXPECT_EQ(value(add(patch("a", "3"), Coalesce::replace)), (Added{EntryId{4}, EntryId{3}}));
  EXPECT_EQ(waiting(), (Texts{"a:3", "b:1"}));
  EXPECT_EQ(told(), (Texts{"1 write-accepted", "2 write-accepted", "1 write-superseded",
                           "3 write-accepted", "3 write-superseded", "4 write-accepted"}));
}

TEST_F(OutboxTest, SupersedingOvertakesNothingOfItsObject) {
  Write remove = patch("a", "gone", "");
  remove.verb = "DELETE";
  ASSERT_TRUE(add(patch("a", "1")));
  ASSERT_TRUE(add(remove));
  ASSERT_TRUE(add(patch("b", "1")));
  EXPECT_EQ(value(add(patch("a", "2"), Coalesce::replace)), (Added{EntryId{4}, EntryId{1}}));
  EXPECT_EQ(waiting(), (Texts{"a:gone", "b:1", "a:2"}));
}

TEST_F(OutboxTest, OnlyTheSameSortOfWriteIsSuperseded) {
  std::vector<Write> others(7, patch("a", "2"));
  others[0].object.group = "x";
  others[1].object.version = "x";
  others[2].object.resource = "x";
  others[3].object.namespace_name = "x";
  others[4].object.name = "x";
  others[5].object.subresource = "x";
  others[6].verb = "PUT";
  ASSERT_TRUE(add(patch("a", "1")));
  for (const Write& other : others) {
    EXPECT_EQ(value(add(other, Coalesce::replace)).superseded, std::nullopt);
  }
  // This write does not ask for superseding.
  EXPECT_EQ(value(add(patch("a", "1"))).superseded, std::nullopt);
}

TEST_F(OutboxTest, WhatMayHaveBeenSentIsNotSuperseded) {
  ASSERT_TRUE(add(patch("a", "1")));
  ASSERT_EQ(said(mark_sending(1)), "ok");
  EXPECT_EQ(value(add(patch("a", "2"), Coalesce::replace)), (Added{EntryId{2}}));
  ASSERT_EQ(said(requeue(1, Attempt::maybe_sent)), "ok");
  EXPECT_EQ(value(add(patch("a", "3"), Coalesce::replace)), (Added{EntryId{3}, EntryId{2}}));
  EXPECT_EQ(waiting(), (Texts{"a:1", "a:3"}));
}

TEST_F(OutboxTest, AttemptsAreCountedAndDoubtStays) {
  const Write write = patch("a", "1");
  ASSERT_TRUE(add(write));
  const struct {
    Attempt attempt;
    bool maybe_sent;
  } rows[] = {{Attempt::not_sent, false}, {Attempt::maybe_sent, true}, {Attempt::not_sent, true}};
  int attempts = 0;
  for (const auto& row : rows) {
    ASSERT_EQ(said(mark_sending(1)), "ok");
    ++attempts;
    EXPECT_EQ(value(outbox_->pending(write.object)).front().sending, true);
    ASSERT_EQ(said(requeue(1, row.attempt)), "ok");
    EXPECT_EQ(first(*outbox_),
              (Entry{EntryId{1}, write, false, row.maybe_sent, attempts, false}));
  }
  EXPECT_EQ(said(requeue(2, Attempt::not_sent)), "not_found: outbox entry 2");
}

TEST_F(OutboxTest, WhatADeadProcessWasSendingMayHaveBeenSent) {
  ASSERT_TRUE(add(patch("a", "1")));
  ASSERT_TRUE(add(patch("b", "1")));
  ASSERT_EQ(said(mark_sending(1)), "ok");
  reopen();
  EXPECT_EQ(first(*outbox_), (Entry{EntryId{1}, patch("a", "1"), false, true, 1, false}));
  ASSERT_EQ(said(settle(1, Outcome::applied)), "ok");
  EXPECT_EQ(first(*outbox_), (Entry{.id = EntryId{2}, .write = patch("b", "1")}));
}

TEST_F(OutboxTest, ADeadAgentsFileCanBeRead) {
  const test::ScratchDir scratch;
  const auto file = scratch.path() / "outbox.db";
  {
    Database database = value(Database::open(file, {}));
    ASSERT_EQ(said(migrate(database, outbox_schema())), "ok");
    Journal journal(database);
    Outbox outbox = value(Outbox::open(database, journal));
    Transaction transaction = value(database.begin());
    ASSERT_TRUE(outbox.add(transaction, patch("a", "1")));
    ASSERT_EQ(said(outbox.mark_sending(transaction, EntryId{1})), "ok");
    ASSERT_EQ(said(transaction.commit()), "ok");
  }
  Database database = value(Database::open(file, {.access = Access::read_only}));
  ASSERT_EQ(said(migrate(database, outbox_schema())), "ok");
  Journal journal(database);
  Outbox outbox = value(Outbox::open(database, journal));
  EXPECT_EQ(value(outbox.list(10)),
            (std::vector{Entry{EntryId{1}, patch("a", "1"), true, false, 1, false}}));
  EXPECT_EQ(value(journal.newest()), 1);
}

TEST_F(OutboxTest, EveryOutcomeIsTold) {
  const struct {
    Outcome outcome;
    std::string kind;
  } rows[] = {
      {Outcome::applied, "write-applied"},
      {Outcome::conflict, "write-conflict"},
      {Outcome::rejected, "write-rejected"},
      {Outcome::damaged, "write-damaged"},
  };
  int id = 0;
  for (const auto& row : rows) {
    SCOPED_TRACE(row.kind);
    ASSERT_TRUE(add(patch("a", "1")));
    ASSERT_EQ(said(settle(++id, row.outcome, R"({"theirs":1})")), "ok");
    EXPECT_EQ(said(settle(id, row.outcome)), "not_found: outbox entry " + std::to_string(id));
    const std::vector<Record> expected = {
        {id * 2 - 1, noon, "write-accepted", "pods/default/a",
         "PATCH /api/v1/namespaces/default/pods/a/status", "", id},
        {id * 2, noon, row.kind, "pods/default/a", "PATCH /api/v1/namespaces/default/pods/a/status",
         R"({"theirs":1})", id},
    };
    EXPECT_EQ(value(journal_->read({.from = id * 2 - 1})), expected);
  }
}

TEST_F(OutboxTest, ADamagedEntrySaysSo) {
  for (const char* change : {"body = x'00'", "target = '/'", "verb = 'DELETE'", "name = 'b'"}) {
    SCOPED_TRACE(change);
    ASSERT_TRUE(add(patch("a", "1")));
    ASSERT_EQ(said(database_.execute("UPDATE entry SET " + std::string(change))), "ok");
    const Entry entry = *first(*outbox_);
    EXPECT_TRUE(entry.damaged);
    ASSERT_EQ(said(settle(static_cast<int>(entry.id), Outcome::damaged)), "ok");
  }
}

TEST_F(OutboxTest, IdsAreNeverReused) {
  ASSERT_TRUE(add(patch("a", "1")));
  ASSERT_EQ(said(settle(1, Outcome::applied)), "ok");
  reopen();
  EXPECT_EQ(value(add(patch("a", "2"))), Added{EntryId{2}});
}

TEST_F(OutboxTest, PendingIsAllOfAnObject) {
  const Write whole = patch("a", "2", "");
  ASSERT_TRUE(add(patch("a", "1")));
  ASSERT_TRUE(add(patch("b", "1")));
  ASSERT_TRUE(add(whole));
  const std::vector<Entry> expected = {{.id = EntryId{1}, .write = patch("a", "1")},
                                       {.id = EntryId{3}, .write = whole}};
  EXPECT_EQ(value(outbox_->pending(whole.object)), expected);
  EXPECT_EQ(value(outbox_->pending({"", "v1", "nodes", "", "a", ""})), std::vector<Entry>{});
}

TEST(OutboxSubject, NamesTheObject) {
  EXPECT_EQ(subject_of({"", "v1", "pods", "default", "web-1", "status"}), "pods/default/web-1");
  EXPECT_EQ(subject_of({"", "v1", "nodes", "", "edge-a", ""}), "nodes/edge-a");
}

}  // namespace
}  // namespace holdfast::store
