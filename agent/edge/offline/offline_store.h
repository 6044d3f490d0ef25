// The outbox, which holds accepted writes until the cloud has them, and the journal, which records
// what was decided and why. Both are in one database. A write and its journal record are one
// transaction, which is durable when the call returns.
//
// Flash wears out, and a damaged page is found only when it is read. A damaged file is set aside,
// at the start or at any later moment, and its readable entries are copied into a new one
// (store/salvage.h); the log and the journal tell of it. Otherwise no write could be accepted or
// sent any more. What the copy lacks is lost: the kubelet repeats its statuses.
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
#include <type_traits>
#include <vector>

#include "platform/time.h"
#include "store/outbox.h"
#include "store/recover.h"
#include "sync/autonomy/local_write.h"
#include "sync/objects/request_info.h"

namespace holdfast::agent {

class OfflineStore {
 public:
  // Opens the file, or creates it. Errors: those of store::open_or_rebuild() but corrupt.
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
  // as the outbox knows: who sends entries must stop, and must not end the attempts that he began
  // before.
  [[nodiscard]] std::uint64_t rebuilds() const { return rebuilds_; }
  // Makes entries that are being sent maybe_sent. For attempts whose end could not be recorded.
  // Errors: the disk's.
  [[nodiscard]] Status give_up_attempts();

  // As in store::Outbox and store::Journal.
  [[nodiscard]] Result<store::OutboxSize> size();
  [[nodiscard]] Result<std::vector<store::Entry>> pending(const store::ObjectKey& object);
  [[nodiscard]] Result<std::vector<store::Entry>> list(std::size_t limit);
  [[nodiscard]] Result<std::vector<store::Record>> records(const store::JournalQuery& query);

  // Valid as long as this; after a rebuild it is the new file's.
  [[nodiscard]] store::Database& database() { return database_; }

 private:
  // Runs an operation, and once more if it finds the file damaged and that could be replaced.
  template <class Operation>
  [[nodiscard]] std::invoke_result_t<Operation> with_sound_file(const Operation& operation);
  [[nodiscard]] Status open_file();
  [[nodiscard]] Status rebuild(const Error& why);
  void salvage(const store::Damage& damage);
  void forget_lost_entries();
  [[nodiscard]] Result<Batch> next_batch_of_file(std::span<const FinishedAttempt> ended,
                                                 std::int64_t after, std::size_t limit,
                                                 const Left& left);
  [[nodiscard]] bool leaves(const Left& left, const store::Entry& entry) const;
  [[nodiscard]] Status end(const store::Transaction& in, const FinishedAttempt& ended);
  [[nodiscard]] Status take(const store::Transaction& in, store::Entry entry, Batch& taken);

  OfflineStore(std::filesystem::path file, store::Database database, const Clock& clock)
      : file_(std::move(file)), clock_(clock), database_(std::move(database)) {}
  // Begins to use `database_`.
  [[nodiscard]] Status use_database();

  std::filesystem::path file_;  // empty: it is not replaced if it is damaged
  const Clock& clock_;
  store::Database database_;
  std::unique_ptr<store::Journal> journal_;
  std::optional<store::Outbox> outbox_;  // nothing: a damaged file could not be replaced yet
  std::optional<store::Damage> damage_;  // of a file that was set aside and not yet salvaged
  MonoTime no_rebuild_before_ = MonoTime::min();
  std::uint64_t rebuilds_ = 0;
  std::uint64_t accepted_ = 0;
  std::map<store::EntryId, MonoTime> accepted_at_;  // of queued entries that this run accepted
  std::set<store::EntryId> superseded_;             // entries that are being sent
};

}  // namespace holdfast::agent
