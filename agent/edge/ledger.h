// The agent's books: the outbox of writes that wait for the cloud, and the journal of what was
// decided. One database; a write and its record are one transaction, durable when it returns.
//
// Threading: the loop's thread only.

#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

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

  // The next write to send, already marked as being sent (its attempts count this one); nothing
  // when the outbox is empty.
  [[nodiscard]] Result<std::optional<store::Entry>> take();
  // How long an entry has waited: by the clock that never jumps, unless it was accepted by an
  // earlier run of the agent; then by the calendar, as far as that has not been set back.
  [[nodiscard]] Duration age(const store::Entry& entry) const;
  // The cloud was not reached: it waits for the next time.
  [[nodiscard]] Status put_back(store::EntryId id, store::Attempt attempt);
  [[nodiscard]] Status settle(store::EntryId id, store::Outcome outcome, std::string_view detail);

  // A line in the journal; `detail` is JSON, or "". A disk that refuses is logged.
  void record(std::string_view kind, std::string_view subject, std::string_view what,
              std::string_view detail = {});

  [[nodiscard]] store::Outbox& outbox() { return outbox_; }
  [[nodiscard]] store::Journal& journal() { return *journal_; }

 private:
  Ledger(store::Database& database, const Clock& clock, std::unique_ptr<store::Journal> journal,
         store::Outbox outbox);

  store::Database& database_;
  const Clock& clock_;
  std::unique_ptr<store::Journal> journal_;
  store::Outbox outbox_;
  std::map<store::EntryId, MonoTime> accepted_;  // of those that wait, by this run
};

}  // namespace holdfast::agent
