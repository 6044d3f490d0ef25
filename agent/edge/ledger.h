// The agent's books: the outbox of writes that wait for the cloud, and the journal of what was
// decided. One database; a write and its record are one transaction, durable when it returns.
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
#include "sync/api/request_info.h"
#include "sync/autonomy/local_write.h"

namespace holdfast::agent {

class Ledger {
 public:
  // `database` was migrated to store::outbox_schema() and outlives this.
  [[nodiscard]] static Result<std::unique_ptr<Ledger>> open(store::Database& database,
                                                            const Clock& clock);

  // Queues a write that was accepted. Errors: exhausted (no room), the disk's; then nothing was
  // accepted.
  [[nodiscard]] Status add(const sync::RequestInfo& request, const std::string& name,
                           const sync::QueuedWrite& write);

  // How an attempt to send an entry ended.
  struct Ended {
    store::EntryId id{};
    std::optional<store::Outcome> outcome = {};         // nothing: it stays queued
    store::Attempt attempt = store::Attempt::not_sent;  // of one that stays
    std::string detail = {};                            // JSON, for the journal
  };
  struct Taken {
    std::vector<store::Entry> entries = {};
    std::int64_t after = 0;  // for the next turn; 0: no more entries come after these
  };
  // One durable transaction: notes what has ended, and marks as being sent up to `limit` of the
  // entries behind `after` (0: all) that may be sent and are not held back. What this returns may
  // leave at once. On an error nothing was changed. Errors: the disk's.
  [[nodiscard]] Result<Taken> turn(std::span<const Ended> ended, std::int64_t after,
                                   std::size_t limit, const std::set<store::EntryId>& held_back);
  // The cloud has the object, or took a newer status of it directly: creations or older statuses
  // that wait are not sent.
  [[nodiscard]] Status overtaken(const sync::RequestInfo& request);
  // How long an entry has waited: by the clock that never jumps, unless it was accepted by an
  // earlier run of the agent; then by the calendar, as far as that has not been set back.
  [[nodiscard]] Duration age(const store::Entry& entry) const;
  // A line in the journal; `detail` is JSON, or "". A disk that refuses is logged.
  void record(std::string_view kind, std::string_view subject, std::string_view what,
              std::string_view detail = {});

  [[nodiscard]] store::Outbox& outbox() { return outbox_; }
  [[nodiscard]] store::Journal& journal() { return *journal_; }

 private:
  [[nodiscard]] Status end(const store::Transaction& in, const Ended& ended);
  [[nodiscard]] Status take(const store::Transaction& in, store::Entry entry, Taken& taken);

  Ledger(store::Database& database, const Clock& clock, std::unique_ptr<store::Journal> journal,
         store::Outbox outbox);

  store::Database& database_;
  const Clock& clock_;
  std::unique_ptr<store::Journal> journal_;
  store::Outbox outbox_;
  std::map<store::EntryId, MonoTime> accepted_;  // of those that wait, by this run
};

}  // namespace holdfast::agent
