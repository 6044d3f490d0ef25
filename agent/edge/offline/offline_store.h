// The outbox, which holds accepted writes until the cloud has them, and the journal, which records
// what was decided and why. Both are in one database. A write and its journal record are one
// transaction, which is durable when the call returns.
//
// A damaged file is replaced (store/self_repairing.h), and its readable entries are copied into the
// new one; the log and the journal tell of it. Otherwise no write could be accepted or sent any
// more. What the copy lacks is lost: the kubelet repeats its statuses.
//
// Threading: the loop's thread only.

#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "platform/time.h"
#include "store/outbox.h"
#include "store/self_repairing.h"
#include "sync/autonomy/local_write.h"
#include "sync/objects/request_info.h"

namespace holdfast::agent {

class OfflineStore {
 public:
  // Opens the file, or creates it. Errors: those of store::SelfRepairingDatabase.
  [[nodiscard]] static Result<std::unique_ptr<OfflineStore>> open(const std::filesystem::path& file,
                                                                  const Clock& clock);
  // For a database that was migrated to store::outbox_schema(). If it is damaged, it stays as it
  // is.
  [[nodiscard]] static Result<std::unique_ptr<OfflineStore>> open(store::Database database,
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

  // How often a damaged file was replaced since the start. Afterwards nothing is being sent, as far
  // as the outbox knows: a sender must stop, and must not record the end of earlier attempts.
  [[nodiscard]] std::uint64_t replacements() const { return file_.replacements(); }
  // Makes entries that are being sent maybe_sent. For attempts whose end could not be recorded.
  // Errors: the disk's.
  [[nodiscard]] Status give_up_attempts();

  // As in store::Outbox and store::Journal.
  [[nodiscard]] Result<store::OutboxSize> size();
  [[nodiscard]] Result<std::vector<store::Entry>> pending(const store::ObjectKey& object);
  [[nodiscard]] Result<std::vector<store::Entry>> list(std::size_t limit);
  [[nodiscard]] Result<std::vector<store::Record>> records(const store::JournalQuery& query);

  // As store::SelfRepairingDatabase::database().
  [[nodiscard]] store::Database& database() { return file_.database(); }

 private:
  // Begins to use a database that was opened.
  [[nodiscard]] Status use(store::Database& database, const std::optional<store::Damage>& damage);
  // Ends the use of the database before it is closed.
  void release();
  // Forgets what is known of entries that the outbox does not have: their ids may be given to other
  // entries.
  [[nodiscard]] Status forget_lost_entries();
  [[nodiscard]] Result<Batch> next_batch_of_file(std::span<const FinishedAttempt> ended,
                                                 std::int64_t after, std::size_t limit,
                                                 const Left& left);
  [[nodiscard]] bool leaves(const Left& left, const store::Entry& entry) const;
  [[nodiscard]] Status end(const store::Transaction& in, const FinishedAttempt& ended);
  [[nodiscard]] Status take(const store::Transaction& in, store::Entry entry, Batch& taken);

  [[nodiscard]] Status append(store::Database& database, const store::Record& record);

  // `file` is what SelfRepairingDatabase is made from.
  template <class File>
  OfflineStore(File file, const Clock& clock);

  const Clock& clock_;
  store::SelfRepairingDatabase file_;
  std::unique_ptr<store::Journal> journal_;  // this and the outbox: while the database is in use
  std::optional<store::Outbox> outbox_;
  std::uint64_t accepted_ = 0;
  std::map<store::EntryId, MonoTime> accepted_at_;  // of queued entries that this run accepted
  std::set<store::EntryId> superseded_;             // entries that are being sent
};

}  // namespace holdfast::agent
