// Holds one scope's objects and recent events. Every local list and watch of the scope is answered
// from here.
//
// The scope's reflector feeds it with whole lists and single events; writes that were accepted
// offline are added too. A client names the resourceVersion up to which it has seen the scope and
// gets all later events in order, each exactly once, or the error `gone`. There is never a gap.
//
// Objects are kept in the form of cached_form.h. Pure and single-threaded.

#pragma once

#include <compare>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "platform/result.h"
#include "sync/objects/version.h"
#include "sync/watch/body.h"
#include "sync/watch/cached_form.h"

namespace holdfast::sync::watch {

// Ordered as in an API server's lists: by the text "namespace/name", so that "a-b/x" comes before
// "a/x".
struct ObjectKey {
  std::string namespace_name;  // empty: cluster-scoped
  std::string name;

  bool operator==(const ObjectKey&) const = default;
  [[nodiscard]] std::strong_ordering operator<=>(const ObjectKey& other) const;
};

struct CachedObject {
  std::string uid;
  objects::Version version = 0;
  Body bytes = {};
};

struct CacheEvent {
  EventType type = EventType::added;
  ObjectKey key;
  // For a deletion: its last state, with the resourceVersion of the deletion.
  CachedObject object;
};

// Estimated memory that an object needs besides its bytes: names, uid and map entries; and what is
// needed to find bytes that are not in memory.
inline constexpr std::size_t object_overhead = 400;
inline constexpr std::size_t place_overhead = 160;

// What an object needs in memory, with all of these.
[[nodiscard]] inline std::size_t memory_of(const CachedObject& object) {
  const std::size_t place = object.bytes.is_in_memory() ? 0 : place_overhead;
  return object.bytes.memory_bytes() + object_overhead + place;
}

struct WatchCacheLimits {
  std::size_t events = 1000;          // number of events kept for clients that reconnect
  std::size_t bytes = 1024UL * 1024;  // bytes of the objects in these events
};

class WatchCache {
 public:
  using Objects = std::map<ObjectKey, CachedObject>;
  // The number of an event, counted from the creation of the cache. A watch keeps the position of
  // the next event it wants.
  using Position = std::uint64_t;

  explicit WatchCache(WatchCacheLimits limits = {});

  // Whether a complete list was ever received. Until then no request may be answered from here.
  [[nodiscard]] bool complete() const { return complete_; }
  // The version up to which the cache has seen the scope; used as the version of lists and
  // bookmarks.
  [[nodiscard]] objects::Version version() const { return version_; }
  // The same without local versions: the server's state that it has seen at least.
  [[nodiscard]] objects::Version server_version() const { return server_version_; }
  [[nodiscard]] const wire::ScopeKind& kind() const { return kind_; }
  [[nodiscard]] const Objects& objects() const { return objects_; }
  [[nodiscard]] const CachedObject* find(const ObjectKey& key) const;

  // The bytes of all `objects`, wherever they are, including object_overhead for each.
  [[nodiscard]] static std::size_t bytes_of(const Objects& objects);
  // The same for the objects of this cache; history_bytes() are those in the kept events and in
  // written().
  [[nodiscard]] std::size_t object_bytes() const { return object_bytes_; }
  [[nodiscard]] std::size_t history_bytes() const { return event_bytes_ + written_bytes_; }
  // What the `objects` need in memory: bytes_of() without those that are elsewhere, but with
  // place_overhead for each of these.
  [[nodiscard]] static std::size_t memory_bytes_of(const Objects& objects);
  // Frees the kept events: clients that have not seen the last one must list again.
  void forget_events();

  // Replaces the content by a complete list and returns the differences as events. No two events
  // have the same version: a deletion gets a version that no other change has. If clients have seen
  // local versions, or versions do not grow, the history is discarded instead and open watches end
  // with `gone`.
  std::vector<CacheEvent> replace(Objects objects, objects::Version version, wire::ScopeKind kind);
  // Loads the content from disk at start, without events. Watches may continue from `version`.
  void restore(Objects objects, objects::Version version, wire::ScopeKind kind);

  // Applies one event from the server. Returns false for a repeated or older one, which changes
  // nothing; and for one that shows an older state of an object than settle() took over, or the
  // deletion of an unknown object, which only advance the version.
  bool apply(CacheEvent event);
  // Records that the server has no unsent events up to `version`.
  void bookmark(objects::Version version);

  // Applies a write that was accepted offline. `event.object.version` must be local and larger than
  // any before. Returns false for the deletion of an unknown object: this scope may be older than
  // the one that the write was decided on.
  bool apply_local(CacheEvent event);

  // Whether clients have seen local versions, so that only a new list or settle() can return to the
  // server's.
  [[nodiscard]] bool has_local_events() const { return has_local_events_; }
  // Whether the server has sent events since then that were not applied. They are not lost: a watch
  // from server_version() sends them again.
  [[nodiscard]] bool has_missed_events() const { return has_missed_events_; }

  // States of single objects. Nothing: the object does not exist.
  using States = std::map<ObjectKey, std::optional<CachedObject>>;
  // The objects that were written locally since the server's versions were left, each as the server
  // had shown it before.
  [[nodiscard]] const States& written() const { return written_; }
  // Returns from local versions to server_version() without a list: open watches end with `gone`,
  // and the server's watch continues there. `answered` has the states of objects in written() as
  // the server has answered to the last of their writes; older states of these are not applied any
  // more. An object without such a state gets the one that the server had shown, and the watch
  // brings what has become of it. Returns false and changes nothing if a list is needed: an object
  // was created or deleted locally and its state is missing, or is another one with the same name,
  // or its version contradicts server_version(), or the cache was restored with local versions.
  [[nodiscard]] bool settle(const States& answered);

  // Where a watch continues that has seen `version`. A version that is newer than the cache's is
  // valid: a client can have it from the API server itself, and gets no events up to it. Errors:
  // gone (older than the kept history, or from a discarded one).
  [[nodiscard]] Result<Position> position_of(objects::Version version) const;
  [[nodiscard]] Position end() const { return first_ + events_.size(); }
  // The event at `position`, or null if it has not happened yet. Errors: gone.
  [[nodiscard]] Result<const CacheEvent*> at(Position position) const;

  // For tests: the sizes agree with the contents.
  void check_invariants() const;

 private:
  // Appends to the history and drops the oldest events over the limits.
  void push(CacheEvent event);
  // Makes deletions show their own version, as clients read the version at which they continue from
  // the object. Only those that the history will keep. Returns false if the bytes of one cannot be
  // read.
  [[nodiscard]] bool show_deletions(std::vector<CacheEvent>& changes) const;
  void set_version(objects::Version version);
  // Discards the history, so that all open watches end with `gone`.
  void break_off_history(objects::Version version);
  // Puts or removes one object.
  void put(const ObjectKey& key, std::optional<CachedObject> object);
  // Whether settle() may return an object, which is now as written, to what the server had shown.
  [[nodiscard]] bool may_return(const ObjectKey& key,
                                const std::optional<CachedObject>& before) const;
  // Whether settle() may take over `now` where the server had shown `before`.
  [[nodiscard]] bool follows(const std::optional<CachedObject>& before,
                             const std::optional<CachedObject>& now) const;
  // Whether the event shows an older state of an object than settle() took over.
  [[nodiscard]] bool is_outdated(const CacheEvent& event);

  WatchCacheLimits limits_;
  bool complete_ = false;
  objects::Version version_ = 0;
  objects::Version server_version_ = 0;
  wire::ScopeKind kind_;
  Objects objects_;
  std::deque<CacheEvent> events_;
  std::size_t event_bytes_ = 0;
  std::size_t object_bytes_ = 0;
  Position first_ = 0;  // position of events_.front()
  objects::Version history_from_ =
      0;  // watches that have seen this version or a later one can continue
  bool has_local_events_ = false;
  bool has_missed_events_ = false;
  bool was_restored_local_ = false;  // `written_` does not have all objects
  States written_;
  std::size_t written_bytes_ = 0;
  // What settle() took over, until the server's events have come as far.
  struct Settled {
    std::string uid;
    std::optional<objects::Version> version;  // nothing: it was removed
  };
  std::map<ObjectKey, Settled> settled_;
};

}  // namespace holdfast::sync::watch
