// Keeps what must reach upstream until it has: a durable queue of writes, in outbox.db.
//
// Order is per object, not global: two writes to one object never overtake each other. A write that
// a newer one makes pointless may be superseded while it was surely not sent. What was being sent
// when the process died comes back as maybe_sent: look before sending it again.
//
// Survives power loss from the moment the Transaction is committed (open the file with
// Durability::full). Each journalled write leaves a record when it is accepted and one with its
// outcome, in the same transaction as the fact. Threading: the Database's thread.

#pragma once

#include <climits>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/result.h"
#include "platform/time.h"
#include "store/journal.h"
#include "store/migrate.h"
#include "store/sqlite.h"

namespace holdfast::store {

[[nodiscard]] const Schema& outbox_schema();

// Group, resource, namespace and name are the object; order is kept among all of its writes.
struct ObjectKey {
  std::string group = {};
  std::string version = {};
  std::string resource = {};
  std::string namespace_name = {};
  std::string name = {};
  std::string subresource = {};

  bool operator==(const ObjectKey&) const = default;
};

// How the journal names an object: "pods/default/web-1", "nodes/edge-a".
[[nodiscard]] std::string subject_of(const ObjectKey& object);

struct Write {
  ObjectKey object = {};
  std::string verb = {};    // "PATCH"
  std::string target = {};  // path and query
  std::string content_type = {};
  std::string body = {};
  std::string precondition_uid = {};      // empty: none
  std::string precondition_version = {};  // empty: none
  WallTime created{};
  int urgency = 0;  // 0 is the most urgent
  bool journalled = true;

  bool operator==(const Write&) const = default;
};

enum class EntryId : std::int64_t {};

struct Entry {
  EntryId id{};
  Write write = {};
  bool sending = false;
  bool maybe_sent = false;  // an attempt was made whose end is not known
  int attempts = 0;
  bool damaged = false;  // fails its checksum: report it, never send it

  bool operator==(const Entry&) const = default;
};

enum class Coalesce : std::uint8_t { append, replace };

// How a write ended. The journal's kinds are these words behind "write-".
enum class Outcome : std::uint8_t {
  applied,
  conflict,    // upstream had something newer
  rejected,    // upstream will never take it
  damaged,     // its row failed the checksum
  superseded,  // by a newer write; decided by add()
  dropped,     // for lack of room; decided by add()
  expired,     // it waited until nobody wanted it any more
};

enum class Attempt : std::uint8_t { not_sent, maybe_sent };

struct OutboxLimits {
  std::int64_t entries = 10'000;
  std::int64_t bytes = 16 << 20;  // of all text and bodies
  int droppable_from = 10;        // entries of this urgency and above go first when it is full
};

struct OutboxSize {
  std::int64_t entries = 0;
  std::int64_t bytes = 0;

  bool operator==(const OutboxSize&) const = default;
};

struct Added {
  EntryId id{};
  std::optional<EntryId> superseded = {};
  std::vector<EntryId> dropped = {};

  bool operator==(const Added&) const = default;
};

class Outbox {
 public:
  // What a dead process left as being sent becomes maybe_sent, unless the file was opened to be
  // read only. `database` was migrated to outbox_schema(); it and `journal` outlive the Outbox.
  [[nodiscard]] static Result<Outbox> open(Database& database, Journal& journal,
                                           OutboxLimits limits = {});

  // Queues `write`. With Coalesce::replace it supersedes an entry of the same object, subresource
  // and verb that was surely not sent, and takes its place if nothing of the object came between.
  // When full, the oldest droppable entries go first. Errors: exhausted, when that is not enough
  // (nothing was changed).
  [[nodiscard]] Result<Added> add(const Transaction& in, const Write& write,
                                  Coalesce coalesce = Coalesce::append);

  // The oldest entry that may be sent: nothing of its object is older or being sent. Less urgent
  // ones than `least_urgency` wait. It stays queued until settle().
  [[nodiscard]] Result<std::optional<Entry>> next(int least_urgency = INT_MAX);

  // The entries that may be sent, oldest first, in pages of at most `limit`. `after` is the
  // previous page's; 0 for the first one.
  struct Page {
    std::vector<Entry> entries = {};
    std::int64_t after = 0;  // for the next page; 0: this was the last one
  };
  [[nodiscard]] Result<Page> sendable(std::int64_t after, std::size_t limit);

  // To be committed before the first byte leaves. Errors: not_found; conflict, when it is already.
  [[nodiscard]] Status mark_sending(const Transaction& in, EntryId id);

  // The attempt failed and is to be repeated. Errors: not_found.
  [[nodiscard]] Status requeue(const Transaction& in, EntryId id, Attempt attempt);

  // The entry is done with. `detail` is JSON for the journal. Errors: not_found.
  [[nodiscard]] Status settle(const Transaction& in, EntryId id, Outcome outcome, WallTime now,
                              std::string_view detail = "");

  // What waits for one object (version and subresource do not matter), in order.
  [[nodiscard]] Result<std::vector<Entry>> pending(const ObjectKey& object);

  // The first `limit` of all that waits, in order.
  [[nodiscard]] Result<std::vector<Entry>> list(std::size_t limit);

  [[nodiscard]] Result<OutboxSize> size();

 private:
  struct Predecessor {  // an entry that a new write supersedes
    Entry entry;
    std::optional<std::int64_t> place;  // where the new one may stand; nothing: at the end
  };

  struct Fact {
    std::string_view kind;
    WallTime at;
    std::string_view detail;
  };

  Outbox(Database& database, Journal& journal, OutboxLimits limits);
  [[nodiscard]] Status recover();
  [[nodiscard]] Result<Entry> find(EntryId id);
  [[nodiscard]] Result<std::optional<Predecessor>> find_predecessor(const Write& write);
  [[nodiscard]] Result<bool> can_make_room(OutboxSize missing, const std::optional<EntryId>& but);
  [[nodiscard]] Result<std::vector<EntryId>> drop(const Transaction& in, OutboxSize missing,
                                                  WallTime now);
  [[nodiscard]] Result<EntryId> insert(const Write& write, std::optional<std::int64_t> place);
  [[nodiscard]] Status finish(const Transaction& in, const Entry& entry, Outcome outcome,
                              WallTime now, std::string_view detail);
  [[nodiscard]] Status record(const Transaction& in, EntryId id, const Write& write,
                              const Fact& fact);

  Database& database_;
  Journal& journal_;
  OutboxLimits limits_;
  Statement insert_, find_, superseded_, next_, sendable_, pending_, list_;
  Statement mark_, requeue_, remove_, size_, droppable_size_, droppable_, interrupted_;
  OutboxSize counted_;
  std::optional<std::uint64_t> counted_at_;  // Database::rollbacks() when it was counted
};

}  // namespace holdfast::store
