// A durable queue of writes that must reach upstream, in outbox.db.
//
// Order is kept per object, not globally: two writes to one object never overtake each other. A
// newer write may supersede an older one that was certainly not sent. A write that was being sent
// when the process died is returned as maybe_sent: check upstream before sending it again.
//
// An entry survives power loss as soon as its Transaction is committed (open the file with
// Durability::full). Each journalled write gets a record when it is accepted and one with its
// outcome, in the same transaction. Threading: the Database's thread.

#pragma once

#include <cstdint>
#include <optional>
#include <set>
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

// Group, resource, namespace and name identify the object; order is kept among all of its writes.
struct ObjectKey {
  std::string group = {};
  std::string version = {};
  std::string resource = {};
  std::string namespace_name = {};
  std::string name = {};
  std::string subresource = {};

  bool operator==(const ObjectKey&) const = default;
};

// The name of an object in the journal: "pods/default/web-1", "nodes/edge-a".
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
  bool maybe_sent = false;  // an attempt was made whose result is unknown
  int attempts = 0;
  bool damaged = false;  // it fails its checksum: report it, never send it

  bool operator==(const Entry&) const = default;
};

enum class Coalesce : std::uint8_t { append, replace };

// How a write ended. The journal's kinds are these names with the prefix "write-".
enum class Outcome : std::uint8_t {
  applied,
  conflict,    // upstream has a newer version
  rejected,    // upstream will never accept it
  damaged,     // its row failed the checksum
  superseded,  // replaced by a newer write; set by add()
  dropped,     // removed to make room; set by add()
  expired,     // it waited until it was no longer useful
};

enum class Attempt : std::uint8_t { not_sent, maybe_sent };

struct OutboxLimits {
  std::int64_t entries = 10'000;
  std::int64_t bytes = 16 << 20;  // of all text and bodies
  int droppable_from = 10;        // entries with this urgency number or a higher one may be dropped
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
  // Opens the outbox. Entries that a dead process left as being sent become maybe_sent, unless the
  // file is read-only. `database` must have been migrated to outbox_schema(); it and `journal` must
  // outlive the Outbox.
  [[nodiscard]] static Result<Outbox> open(Database& database, Journal& journal,
                                           OutboxLimits limits = {});

  // Queues `write`. With Coalesce::replace it supersedes an entry of the same object, version,
  // subresource and verb that was certainly not sent, and takes its place in the queue unless
  // another write to the object came after it. If the outbox is full, the oldest droppable entries
  // are dropped. Errors: exhausted if that is not enough (nothing has changed then).
  [[nodiscard]] Result<Added> add(const Transaction& in, const Write& write,
                                  Coalesce coalesce = Coalesce::append);

  // The entries that may be sent, oldest first: no entry of the same object is older, and they are
  // not being sent. In pages of at most `limit`; `after` is that of the previous page, 0 for the
  // first one. Entries stay queued until settle().
  struct Page {
    std::vector<Entry> entries = {};
    std::int64_t after = 0;  // for the next page; 0: this was the last one
  };
  [[nodiscard]] Result<Page> sendable(std::int64_t after, std::size_t limit);

  // Marks an entry as being sent. Commit it before sending the first byte. Errors: not_found;
  // conflict (it is being sent, or an older entry of its object must be sent first).
  [[nodiscard]] Status mark_sending(const Transaction& in, EntryId id);

  // Returns an entry to the queue after a failed attempt. Errors: not_found.
  [[nodiscard]] Status requeue(const Transaction& in, EntryId id, Attempt attempt);

  // Makes all entries that are being sent maybe_sent. For the caller whose attempts are over, but
  // could not be requeued or settled.
  [[nodiscard]] Status give_up_attempts();

  // Removes an entry with its outcome. `detail` is JSON for the journal. Errors: not_found.
  [[nodiscard]] Status settle(const Transaction& in, EntryId id, Outcome outcome, WallTime now,
                              std::string_view detail = "");

  // The entries of one object (version and subresource are ignored), in order.
  [[nodiscard]] Result<std::vector<Entry>> pending(const ObjectKey& object);

  // The first `limit` entries, in order.
  [[nodiscard]] Result<std::vector<Entry>> list(std::size_t limit);

  // The ids of all entries.
  [[nodiscard]] Result<std::set<EntryId>> ids();

  [[nodiscard]] Result<OutboxSize> size();

 private:
  struct Predecessor {  // an entry that a new write supersedes
    Entry entry;
    std::optional<std::int64_t> place;  // the place that the new one may take; nothing: the end
  };

  struct Fact {
    std::string_view kind;
    WallTime at;
    std::string_view detail;
  };

  Outbox(Database& database, Journal& journal, OutboxLimits limits);
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
  Statement insert_, find_, superseded_, sendable_, pending_, list_;
  Statement mark_, requeue_, remove_, ids_, size_, droppable_size_, droppable_, interrupted_;
  OutboxSize counted_;
  std::optional<std::uint64_t> counted_at_;  // Database::rollbacks() when counted_ was read
};

}  // namespace holdfast::store
