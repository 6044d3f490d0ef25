// An outbox in memory with its journal, and functions that add writes to it.

#pragma once

#include <string>
#include <vector>

#include "store/outbox.h"
#include "test/unit/store/outcome.h"

namespace holdfast::store {

inline constexpr WallTime noon{std::chrono::hours(12)};

inline Write patch(std::string name, std::string body, std::string subresource = "status") {
  return {.object = {"", "v1", "pods", "default", name, subresource},
          .verb = "PATCH",
          .target = "/api/v1/namespaces/default/pods/" + name + "/" + subresource,
          .content_type = "application/json",
          .body = std::move(body),
          .precondition_uid = "uid-" + name,
          .precondition_version = "7",
          .created = noon};
}

class OutboxFixture : public testing::Test {
 protected:
  OutboxFixture() {
    EXPECT_EQ(said(migrate(database_, outbox_schema())), "ok");
    journal_.emplace(database_);
    reopen();
  }

  void reopen(OutboxLimits limits = {}) {
    outbox_.emplace(value(Outbox::open(database_, *journal_, limits)));
  }

  Result<Added> add(const Write& write, Coalesce coalesce = Coalesce::append) {
    TRY(Transaction transaction, database_.begin());
    TRY(const Added added, outbox_->add(transaction, write, coalesce));
    if (auto done = transaction.commit(); !done) return fail(done.error());
    return added;
  }

  Status mark_sending(int id) {
    TRY(Transaction transaction, database_.begin());
    if (auto done = outbox_->mark_sending(transaction, EntryId{id}); !done) return done;
    return transaction.commit();
  }

  Status requeue(int id, Attempt attempt) {
    TRY(Transaction transaction, database_.begin());
    if (auto done = outbox_->requeue(transaction, EntryId{id}, attempt); !done) return done;
    return transaction.commit();
  }

  Status settle(int id, Outcome outcome, std::string_view detail = "") {
    TRY(Transaction transaction, database_.begin());
    auto done = outbox_->settle(transaction, EntryId{id}, outcome, noon, detail);
    if (!done) return done;
    return transaction.commit();
  }

  // The queue in order: "name:body".
  std::vector<std::string> waiting() {
    std::vector<std::string> names;
    for (const Entry& entry : value(outbox_->list(1000))) {
      names.push_back(entry.write.object.name + ":" + entry.write.body);
    }
    return names;
  }

  // The journal: "entry kind".
  std::vector<std::string> told() {
    std::vector<std::string> facts;
    for (const Record& record : value(journal_->read({}))) {
      facts.push_back(std::to_string(record.entry) + " " + record.kind);
    }
    return facts;
  }

  Database database_ = Database::in_memory();
  std::optional<Journal> journal_;
  std::optional<Outbox> outbox_;
};

}  // namespace holdfast::store
