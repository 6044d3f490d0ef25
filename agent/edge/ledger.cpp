#include "agent/edge/ledger.h"

#include <functional>

#include "platform/log.h"

namespace holdfast::agent {
namespace {

constexpr int urgent = 0;
constexpr int droppable = 10;  // OutboxLimits::droppable_from

store::ObjectKey object_of(const sync::RequestInfo& request, const std::string& name) {
  return {.group = request.group,
          .version = request.version,
          .resource = request.resource,
          .namespace_name = request.namespace_name,
          .name = name,
          .subresource = request.subresource};
}

// Runs `body` in a transaction and commits it.
Status in_transaction(store::Database& database,
                      const std::function<Status(const store::Transaction&)>& body) {
  TRY(store::Transaction transaction, database.begin());
  if (auto done = body(transaction); !done) return done;
  return transaction.commit();
}

}  // namespace

Result<std::unique_ptr<Ledger>> Ledger::open(store::Database& database, const Clock& clock) {
  auto journal = std::make_unique<store::Journal>(database);
  TRY(store::Outbox outbox, store::Outbox::open(database, *journal));
  return std::unique_ptr<Ledger>(
      new Ledger(database, clock, std::move(journal), std::move(outbox)));
}

Ledger::Ledger(store::Database& database, const Clock& clock,
               std::unique_ptr<store::Journal> journal, store::Outbox outbox)
    : database_(database),
      clock_(clock),
      journal_(std::move(journal)),
      outbox_(std::move(outbox)) {}

Status Ledger::add(const sync::RequestInfo& request, const std::string& name,
                   const sync::QueuedWrite& write) {
  const store::Write row{.object = object_of(request, name),
                         .verb = write.verb,
                         .target = write.target,
                         .content_type = write.content_type,
                         .body = write.body,
                         .precondition_uid = write.uid,
                         .created = clock_.wall(),
                         .urgency = write.may_be_dropped ? droppable : urgent,
                         .journalled = true};
  const auto coalesce = write.replaces_older ? store::Coalesce::replace : store::Coalesce::append;
  TRY(store::Transaction transaction, database_.begin());
  auto added = outbox_.add(transaction, row, coalesce);
  if (!added) return fail(added.error());
  if (auto committed = transaction.commit(); !committed) return committed;
  accepted_[added->id] = clock_.mono();
  if (added->superseded) accepted_.erase(*added->superseded);
  for (const store::EntryId dropped : added->dropped) accepted_.erase(dropped);
  if (!added->dropped.empty()) {
    log_warn("outbox full, dropped", {{"writes", added->dropped.size()}});
  }
  return {};
}

Result<std::optional<store::Entry>> Ledger::take() {
  for (;;) {
    TRY(std::optional<store::Entry> entry, outbox_.next());
    if (!entry) return entry;
    const store::EntryId id = entry->id;
    if (entry->damaged) {
      if (auto done = settle(id, store::Outcome::damaged, ""); !done) return fail(done.error());
      continue;
    }
    const auto mark = [this, id](const store::Transaction& in) {
      return outbox_.mark_sending(in, id);
    };
    if (auto marked = in_transaction(database_, mark); !marked) return fail(marked.error());
    ++entry->attempts;
    return entry;
  }
}

Duration Ledger::age(const store::Entry& entry) const {
  const auto known = accepted_.find(entry.id);
  if (known != accepted_.end()) return clock_.mono() - known->second;
  return std::max(clock_.wall() - entry.write.created, Duration::zero());
}

Status Ledger::put_back(store::EntryId id, store::Attempt attempt) {
  return in_transaction(database_, [this, id, attempt](const store::Transaction& in) {
    return outbox_.requeue(in, id, attempt);
  });
}

Status Ledger::settle(store::EntryId id, store::Outcome outcome, std::string_view detail) {
  accepted_.erase(id);
  return in_transaction(database_, [this, id, outcome, detail](const store::Transaction& in) {
    return outbox_.settle(in, id, outcome, clock_.wall(), detail);
  });
}

void Ledger::record(std::string_view kind, std::string_view subject, std::string_view what,
                    std::string_view detail) {
  const store::Record line{.at = clock_.wall(),
                           .kind = std::string(kind),
                           .subject = std::string(subject),
                           .what = std::string(what),
                           .detail = std::string(detail)};
  const auto write = [this, &line](const store::Transaction& in) -> Status {
    auto seq = journal_->append(in, line);
    if (!seq) return fail(seq.error());
    return {};
  };
  if (auto written = in_transaction(database_, write); !written) {
    log_error("journal write failed", {{"error", written.error()}});
  }
}

}  // namespace holdfast::agent
