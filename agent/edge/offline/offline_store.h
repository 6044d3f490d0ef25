// The outbox, which holds accepted writes until the cloud has them, and the journal, which records
// what was decided and why. Both are in one database. A write and its journal record are one
// transaction, which is durable when the call returns.
//
// Threading: the loop's thread only.

#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "platform/time.h"
#include "store/outbox.h"
#include "sync/autonomy/local_write.h"
#include "sync/objects/request_info.h"

namespace holdfast::agent {

class OfflineStore {
 public:
  // `database` was migrated to store::outbox_schema() and must outlive this.
  [[nodiscard]] static Result<std::unique_ptr<OfflineStore>> open(store::Database& database,
                                                                  const Clock& clock);

  // Queues an accepted write of the object `name`. Errors: exhausted (no room), the disk's; then
  // the write is not queued and must not be accepted.
  [[nodiscard]] Status add(const sync::objects::RequestInfo& request, const std::string& name,
                           const sync::autonomy::QueuedWrite& write);

  // The bodies of the statuses of the object that are queued. Errors: the disk's.
  [[nodiscard]] Result<std::vector<std::string>> queued_statuses(
      const sync::objects::RequestInfo& request);

  // The end of an attempt to send an entry.
  struct FinishedAttempt {
    store::EntryId id{};
    std::optional<store::Outcome> outcome = {};  // nothing: the entry stays queued
    // Whether an entry that stays may have reached the server.
    store::Attempt attempt = store::Attempt::not_sent;
    std::string detail = {};  // JSON, for the journal
  };
  struct Batch {
    std::vector<store::Entry> entries = {};
    std::int64_t after = 0;  // pass it to the next call; 0: no entries come after these
  };
  // Which entries a batch leaves in the queue: some, and those that were accepted after a time.
  struct Left {
    std::set<store::EntryId> ids = {};
    MonoTime accepted_after = MonoTime::max();
    MonoTime events_after = MonoTime::max();  // the same for Events
  };
  // One durable transaction. Settles or requeues the entries in `ended`, then marks up to `limit`
  // of the entries behind `after` (0: all entries) that may be sent and are not to be `left` as
  // being sent, and returns them. They may be sent as soon as this returns. On an error nothing was
  // changed. Errors: the disk's.
  [[nodiscard]] Result<Batch> next_batch(std::span<const FinishedAttempt> ended, std::int64_t after,
                                         std::size_t limit, const Left& left);
  // The API server has the object, or has accepted a newer status of it directly: queued creations
  // or older statuses of the object are dropped. Those that are being sent are superseded: they are
  // dropped as soon as their attempt has ended.
  [[nodiscard]] Status drop_superseded(const sync::objects::RequestInfo& request);
  // Whether an entry that is being sent must not be sent (any further).
  [[nodiscard]] bool is_superseded(store::EntryId id) const { return superseded_.contains(id); }
  // How long an entry has waited. Measured with the monotonic clock if this run accepted it,
  // otherwise with the wall clock; zero if that was set back.
  [[nodiscard]] Duration age(const store::Entry& entry) const;
  // Adds a journal record. `detail` is JSON or "". A disk error is logged.
  void record(std::string_view kind, std::string_view subject, std::string_view what,
              std::string_view detail = {});

  // The number of writes that add() has queued since the start, without events.
  [[nodiscard]] std::uint64_t accepted() const { return accepted_; }

  [[nodiscard]] store::Outbox& outbox() { return outbox_; }
  [[nodiscard]] store::Journal& journal() { return *journal_; }

 private:
  [[nodiscard]] bool leaves(const Left& left, const store::Entry& entry) const;
  [[nodiscard]] Status end(const store::Transaction& in, const FinishedAttempt& ended);
  [[nodiscard]] Status take(const store::Transaction& in, store::Entry entry, Batch& taken);

  OfflineStore(store::Database& database, const Clock& clock,
               std::unique_ptr<store::Journal> journal, store::Outbox outbox);

  store::Database& database_;
  const Clock& clock_;
  std::unique_ptr<store::Journal> journal_;
  store::Outbox outbox_;
  std::uint64_t accepted_ = 0;
  std::map<store::EntryId, MonoTime> accepted_at_;  // of queued entries that this run accepted
  std::set<store::EntryId> superseded_;             // entries that are being sent
};

}  // namespace holdfast::agent
