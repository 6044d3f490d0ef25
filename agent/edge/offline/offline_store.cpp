#include "agent/edge/offline/offline_store.h"

#include <functional>

#include "platform/log.h"
#include "sync/autonomy/admit.h"
#include "sync/autonomy/owned_status.h"

namespace holdfast::agent {
namespace {

constexpr int urgent = 0;
constexpr int droppable = 10;  // OutboxLimits::droppable_from

store::ObjectKey object_of(const sync::objects::RequestInfo& request, const std::string& name) {
  return {.group = request.group,
          .version = request.version,
          .resource = request.resource,
          .namespace_name = request.namespace_name,
          .name = name,
          .subresource = request.subresource};
}

bool is_status(const store::Write& write) {
  return sync::autonomy::is_owned_status(write.verb, write.object.resource,
                                         write.object.subresource);
}

// Runs `body` in a transaction and commits it.
Status in_transaction(store::Database& database,
                      const std::function<Status(const store::Transaction&)>& body) {
  TRY(store::Transaction transaction, database.begin());
  if (auto done = body(transaction); !done) return done;
  return transaction.commit();
}

}  // namespace

Result<std::unique_ptr<OfflineStore>> OfflineStore::open(store::Database& database,
                                                         const Clock& clock) {
  auto journal = std::make_unique<store::Journal>(database);
  TRY(store::Outbox outbox, store::Outbox::open(database, *journal));
  return std::unique_ptr<OfflineStore>(
      new OfflineStore(database, clock, std::move(journal), std::move(outbox)));
}

OfflineStore::OfflineStore(store::Database& database, const Clock& clock,
                           std::unique_ptr<store::Journal> journal, store::Outbox outbox)
    : database_(database),
      clock_(clock),
      journal_(std::move(journal)),
      outbox_(std::move(outbox)) {}

Status OfflineStore::add(const sync::objects::RequestInfo& request, const std::string& name,
                         const sync::autonomy::QueuedWrite& write) {
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
  if (sync::autonomy::is_shown_locally(request.resource)) ++accepted_;
  accepted_at_[added->id] = clock_.mono();
  if (added->superseded) accepted_at_.erase(*added->superseded);
  for (const store::EntryId dropped : added->dropped) accepted_at_.erase(dropped);
  if (!added->dropped.empty()) {
    log_warn("outbox full, less important writes dropped", {{"writes", added->dropped.size()}});
  }
  return {};
}

Result<std::vector<std::string>> OfflineStore::queued_statuses(
    const sync::objects::RequestInfo& request) {
  std::vector<std::string> bodies;
  const bool has_status =
      sync::autonomy::is_owned_status("PATCH", request.resource, request.subresource);
  if (!has_status) return bodies;
  TRY(std::vector<store::Entry> waiting, outbox_.pending(object_of(request, request.name)));
  for (store::Entry& entry : waiting) {
    if (!entry.damaged && is_status(entry.write)) bodies.push_back(std::move(entry.write.body));
  }
  return bodies;
}

Result<OfflineStore::Batch> OfflineStore::next_batch(std::span<const FinishedAttempt> ended,
                                                     std::int64_t after, std::size_t limit,
                                                     const Left& left) {
  Batch taken;
  TRY(store::Transaction transaction, database_.begin());
  for (const FinishedAttempt& each : ended) {
    if (auto done = end(transaction, each); !done) return fail(done.error());
  }
  if (limit > 0) {
    TRY(store::Outbox::Page page, outbox_.sendable(after, limit));
    taken.after = page.after;
    for (store::Entry& entry : page.entries) {
      if (leaves(left, entry)) continue;
      if (auto done = take(transaction, std::move(entry), taken); !done) return fail(done.error());
    }
  }
  if (auto done = transaction.commit(); !done) return fail(done.error());
  for (const FinishedAttempt& each : ended) {
    const bool is_over = superseded_.erase(each.id) > 0 || each.outcome;
    if (is_over) accepted_at_.erase(each.id);
  }
  return taken;
}

bool OfflineStore::leaves(const Left& left, const store::Entry& entry) const {
  if (left.ids.contains(entry.id)) return true;
  const auto accepted = accepted_at_.find(entry.id);
  if (accepted == accepted_at_.end()) return false;  // by an earlier run
  const bool is_shown = sync::autonomy::is_shown_locally(entry.write.object.resource);
  return accepted->second > left.accepted_after ||
         (!is_shown && accepted->second > left.events_after);
}

Status OfflineStore::end(const store::Transaction& in, const FinishedAttempt& ended) {
  if (!ended.outcome && is_superseded(ended.id)) {
    return outbox_.settle(in, ended.id, store::Outcome::superseded, clock_.wall(), "");
  }
  if (!ended.outcome) return outbox_.requeue(in, ended.id, ended.attempt);
  return outbox_.settle(in, ended.id, *ended.outcome, clock_.wall(), ended.detail);
}

Status OfflineStore::take(const store::Transaction& in, store::Entry entry, Batch& taken) {
  if (entry.damaged) {
    return outbox_.settle(in, entry.id, store::Outcome::damaged, clock_.wall(), "");
  }
  if (auto marked = outbox_.mark_sending(in, entry.id); !marked) return marked;
  ++entry.attempts;
  taken.entries.push_back(std::move(entry));
  return {};
}

Status OfflineStore::drop_superseded(const sync::objects::RequestInfo& request) {
  TRY(const store::OutboxSize size, outbox_.size());
  if (size.entries == 0) return {};
  const store::ObjectKey object = object_of(request, request.name);
  TRY(const std::vector<store::Entry> waiting, outbox_.pending(object));
  std::vector<FinishedAttempt> ended;
  for (const store::Entry& entry : waiting) {
    const bool pointless = is_status(entry.write) || entry.write.verb == "POST";
    if (!pointless || entry.write.object.subresource != request.subresource) continue;
    if (entry.sending) {
      superseded_.insert(entry.id);
      continue;
    }
    ended.push_back({.id = entry.id, .outcome = store::Outcome::superseded});
  }
  if (ended.empty()) return {};
  auto done = next_batch(ended, 0, 0, {});
  return done ? Status() : fail(done.error());
}

Duration OfflineStore::age(const store::Entry& entry) const {
  const auto known = accepted_at_.find(entry.id);
  if (known != accepted_at_.end()) return clock_.mono() - known->second;
  return std::max(clock_.wall() - entry.write.created, Duration::zero());
}

void OfflineStore::record(std::string_view kind, std::string_view subject, std::string_view what,
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
