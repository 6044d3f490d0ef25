#include "agent/edge/offline/offline_store.h"

#include <limits>
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

// A disk that damages everything must not cost a new file for each write.
constexpr auto rebuild_pause = std::chrono::minutes(1);

}  // namespace

// --------------------------------------------------------------------------------------- the file

Result<std::unique_ptr<OfflineStore>> OfflineStore::open(const std::filesystem::path& file,
                                                         const Clock& clock) {
  std::unique_ptr<OfflineStore> opened(new OfflineStore(file, store::Database::in_memory(), clock));
  if (auto done = opened->open_file(); !done) {
    if (done.error().code != Errc::corrupt) return fail(done.error());
    if (auto rebuilt = opened->rebuild(done.error()); !rebuilt) return fail(rebuilt.error());
  }
  return opened;
}

Result<std::unique_ptr<OfflineStore>> OfflineStore::open(store::Database database,
                                                         const Clock& clock) {
  std::unique_ptr<OfflineStore> opened(new OfflineStore({}, std::move(database), clock));
  if (auto done = opened->use_database(); !done) return fail(done.error());
  return opened;
}

Status OfflineStore::open_file() {
  TRY(store::Recovered found, store::open_or_rebuild(file_, {.durability = store::Durability::full},
                                                     store::outbox_schema(), clock_.wall()));
  database_ = std::move(found.database);
  if (found.damage) damage_ = std::move(found.damage);
  if (damage_) salvage(*damage_);
  if (auto used = use_database(); !used) return used;
  if (!damage_) return {};
  record("damage", "outbox.db", std::exchange(damage_, std::nullopt)->why);
  return {};
}

Status OfflineStore::use_database() {
  journal_ = std::make_unique<store::Journal>(database_);
  TRY(store::Outbox opened, store::Outbox::open(database_, *journal_));
  outbox_.emplace(std::move(opened));
  return {};
}

void OfflineStore::salvage(const store::Damage& damage) {
  log_error("outbox was damaged: file kept, copying its readable entries",
            {{"kept", damage.file.string()}, {"why", damage.why}});
  const auto salvaged = store::salvage_outbox(damage.file, database_);
  if (!salvaged) log_error("the damaged outbox could not be read", {{"error", salvaged.error()}});
}

Status OfflineStore::rebuild(const Error& why) {
  no_rebuild_before_ = clock_.mono() + rebuild_pause;
  if (outbox_ || !damage_) {
    outbox_.reset();
    journal_.reset();
    database_ = store::Database::in_memory();  // closes the file
    TRY(std::filesystem::path kept, store::set_aside(file_, clock_.wall()));
    damage_ = store::Damage{std::move(kept), why.what};
  }
  if (auto opened = open_file(); !opened) return opened;
  ++rebuilds_;
  forget_lost_entries();
  return {};
}

// Ids of entries that the copy lacks may be given to other entries.
void OfflineStore::forget_lost_entries() {
  std::set<store::EntryId> kept;
  if (const auto entries = outbox_->list(std::numeric_limits<int>::max())) {
    for (const store::Entry& entry : *entries) kept.insert(entry.id);
  }
  std::erase_if(accepted_at_, [&kept](const auto& known) { return !kept.contains(known.first); });
  std::erase_if(superseded_, [&kept](store::EntryId id) { return !kept.contains(id); });
}

template <class Operation>
std::invoke_result_t<Operation> OfflineStore::with_sound_file(const Operation& operation) {
  std::optional<Error> damaged;
  if (outbox_) {
    auto result = operation();
    if (result || result.error().code != Errc::corrupt || file_.empty()) return result;
    damaged = result.error();
  } else {
    damaged = Error{Errc::corrupt, "the damaged outbox could not be replaced"};
  }
  if (clock_.mono() < no_rebuild_before_) return fail(*damaged);
  if (auto rebuilt = rebuild(*damaged); !rebuilt) return fail(rebuilt.error());
  return operation();
}

Status OfflineStore::give_up_attempts() {
  return with_sound_file([this] { return outbox_->give_up_attempts(); });
}

Result<store::OutboxSize> OfflineStore::size() {
  return with_sound_file([this] { return outbox_->size(); });
}

Result<std::vector<store::Entry>> OfflineStore::pending(const store::ObjectKey& object) {
  return with_sound_file([this, &object] { return outbox_->pending(object); });
}

Result<std::vector<store::Entry>> OfflineStore::list(std::size_t limit) {
  return with_sound_file([this, limit] { return outbox_->list(limit); });
}

Result<std::vector<store::Record>> OfflineStore::records(const store::JournalQuery& query) {
  return with_sound_file([this, &query] { return journal_->read(query); });
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
  const auto added = with_sound_file([this, &row, coalesce]() -> Result<store::Added> {
    TRY(store::Transaction transaction, database_.begin());
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
  return with_sound_file(
      [this, ended, after, limit, &left] { return next_batch_of_file(ended, after, limit, left); });
}

Result<OfflineStore::Batch> OfflineStore::next_batch_of_file(std::span<const FinishedAttempt> ended,
                                                             std::int64_t after, std::size_t limit,
                                                             const Left& left) {
  Batch taken;
  TRY(store::Transaction transaction, database_.begin());
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
  const Status written = with_sound_file([this, &line]() -> Status {
    TRY(store::Transaction transaction, database_.begin());
    TRY([[maybe_unused]] const auto seq, journal_->append(transaction, line));
    return transaction.commit();
  });
  if (!written) log_error("journal write failed", {{"error", written.error()}});
}

}  // namespace holdfast::agent
