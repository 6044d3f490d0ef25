#include "agent/edge/offline/offline_store.h"

#include <utility>

#include "platform/log.h"
#include "store/salvage.h"
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

}  // namespace

// --------------------------------------------------------------------------------------- the file

template <class File>
OfflineStore::OfflineStore(File file, const Clock& clock)
    : clock_(clock),
      file_(std::move(file), clock,
            {.begin =
                 [this](store::Database& database, const std::optional<store::Damage>& damage) {
                   return use(database, damage);
                 },
             .end = [this] { release(); },
             .replaced =
                 [](const Error& why) {
                   // A damage was reported with the file that was kept.
                   if (store::is_file_gone(why)) log_warn("outbox written anew", {{"why", why}});
                 }}) {}

Result<std::unique_ptr<OfflineStore>> OfflineStore::open(const std::filesystem::path& file,
                                                         const Clock& clock) {
  std::unique_ptr<OfflineStore> opened(new OfflineStore(
      store::SelfRepairingDatabase::File{
          file, {.durability = store::Durability::full}, store::outbox_schema()},
      clock));
  if (auto done = opened->file_.open(); !done) return fail(done.error());
  return opened;
}

Result<std::unique_ptr<OfflineStore>> OfflineStore::open(store::Database database,
                                                         const Clock& clock) {
  std::unique_ptr<OfflineStore> opened(new OfflineStore(std::move(database), clock));
  if (auto done = opened->file_.open(); !done) return fail(done.error());
  return opened;
}

Status OfflineStore::use(store::Database& database, const std::optional<store::Damage>& damage) {
  if (damage) {
    log_error("outbox was damaged: file kept, copying its readable entries",
              {{"kept", damage->file.string()}, {"why", damage->why}});
    TRY(const store::Salvaged salvaged, store::salvage_outbox(damage->file, database));
    log_info("entries copied from the damaged outbox",
             {{"entries", salvaged.entries}, {"refused", salvaged.refused}});
  }
  journal_ = std::make_unique<store::Journal>(database);
  TRY(store::Outbox opened, store::Outbox::open(database, *journal_));
  outbox_.emplace(std::move(opened));
  if (!damage) return {};
  if (auto forgotten = forget_lost_entries(); !forgotten) return forgotten;
  return append(
      database,
      {.at = clock_.wall(), .kind = "damage", .subject = "outbox.db", .what = damage->why});
}

void OfflineStore::release() {
  outbox_.reset();
  journal_.reset();
}

Status OfflineStore::forget_lost_entries() {
  TRY(const std::set<store::EntryId> kept, outbox_->ids());
  std::erase_if(accepted_at_, [&kept](const auto& known) { return !kept.contains(known.first); });
  std::erase_if(superseded_, [&kept](store::EntryId id) { return !kept.contains(id); });
  return {};
}

Status OfflineStore::give_up_attempts() {
  return file_.run([this] { return outbox_->give_up_attempts(); });
}

Result<store::OutboxSize> OfflineStore::size() {
  return file_.run([this] { return outbox_->size(); });
}

Result<std::vector<store::Entry>> OfflineStore::pending(const store::ObjectKey& object) {
  return file_.run([this, &object] { return outbox_->pending(object); });
}

Result<std::vector<store::Entry>> OfflineStore::list(std::size_t limit) {
  return file_.run([this, limit] { return outbox_->list(limit); });
}

Result<std::vector<store::Record>> OfflineStore::records(const store::JournalQuery& query) {
  return file_.run([this, &query] { return journal_->read(query); });
}

// ----------------------------------------------------------------------------------------- writes

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
  const auto added = file_.run([this, &row, coalesce]() -> Result<store::Added> {
    TRY(store::Transaction transaction, file_.database().begin());
    TRY(store::Added done, outbox_->add(transaction, row, coalesce));
    if (auto committed = transaction.commit(); !committed) return fail(committed.error());
    return done;
  });
  if (!added) return fail(added.error());
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
  TRY(std::vector<store::Entry> waiting, pending(object_of(request, request.name)));
  for (store::Entry& entry : waiting) {
    if (!entry.damaged && is_status(entry.write)) bodies.push_back(std::move(entry.write.body));
  }
  return bodies;
}

Result<OfflineStore::Batch> OfflineStore::next_batch(std::span<const FinishedAttempt> ended,
                                                     std::int64_t after, std::size_t limit,
                                                     const Left& left) {
  return file_.run(
      [this, ended, after, limit, &left] { return next_batch_of_file(ended, after, limit, left); });
}

Result<OfflineStore::Batch> OfflineStore::next_batch_of_file(std::span<const FinishedAttempt> ended,
                                                             std::int64_t after, std::size_t limit,
                                                             const Left& left) {
  Batch taken;
  TRY(store::Transaction transaction, file_.database().begin());
  for (const FinishedAttempt& each : ended) {
    if (auto done = end(transaction, each); !done) return fail(done.error());
  }
  if (limit > 0) {
    TRY(store::Outbox::Page page, outbox_->sendable(after, limit));
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
    return outbox_->settle(in, ended.id, store::Outcome::superseded, clock_.wall(), "");
  }
  if (!ended.outcome) return outbox_->requeue(in, ended.id, ended.attempt);
  return outbox_->settle(in, ended.id, *ended.outcome, clock_.wall(), ended.detail);
}

Status OfflineStore::take(const store::Transaction& in, store::Entry entry, Batch& taken) {
  if (entry.damaged) {
    return outbox_->settle(in, entry.id, store::Outcome::damaged, clock_.wall(), "");
  }
  if (auto marked = outbox_->mark_sending(in, entry.id); !marked) return marked;
  ++entry.attempts;
  taken.entries.push_back(std::move(entry));
  return {};
}

Status OfflineStore::drop_superseded(const sync::objects::RequestInfo& request) {
  TRY(const store::OutboxSize queued, size());
  if (queued.entries == 0) return {};
  const store::ObjectKey object = object_of(request, request.name);
  TRY(const std::vector<store::Entry> waiting, pending(object));
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
  const Status written = file_.run([this, &line] { return append(database(), line); });
  if (!written) log_error("journal write failed", {{"error", written.error()}});
}

Status OfflineStore::append(store::Database& database, const store::Record& record) {
  TRY(store::Transaction transaction, database.begin());
  TRY([[maybe_unused]] const auto seq, journal_->append(transaction, record));
  return transaction.commit();
}

}  // namespace holdfast::agent
