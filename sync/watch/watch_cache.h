// One scope's objects and recent history, from which every local list and watch is answered.
//
// Fed by the scope's reflector (whole lists, then single events) and by writes that were accepted
// here while the cloud was away. A client names the resourceVersion up to which it has seen the
// scope and gets all later events in order, each once, or `gone`: never a gap.
//
// Objects are kept as the bytes they came in, in the form of cached_form.h. Pure and
// single-threaded.

#pragma once

#include <compare>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "platform/result.h"
#include "sync/api/version.h"
#include "sync/watch/cached_form.h"

namespace holdfast::sync {

using Bytes = std::shared_ptr<const std::string>;

// Ordered as an API server orders its lists: by "namespace/name" as one text, in which "a-b/x"
// comes before "a/x".
struct ObjectKey {
  std::string namespace_name;  // empty: cluster-scoped
  std::string name;

  bool operator==(const ObjectKey&) const = default;
  [[nodiscard]] std::strong_ordering operator<=>(const ObjectKey& other) const;
};

struct CachedObject {
  std::string uid;
  Version version = 0;
  Bytes bytes;
};

struct CacheEvent {
  EventType type = EventType::added;
  ObjectKey key;
  CachedObject object;  // of a deletion: as it was last, with the version of its end
};

// An estimate of the bytes that an object costs besides its own: names, uid and map entries.
inline constexpr std::size_t object_overhead = 320;

struct WatchCacheLimits {
  std::size_t events = 1000;          // kept for clients that come back
  std::size_t bytes = 1024UL * 1024;  // of these events' objects
};

class WatchCache {
 public:
  using Objects = std::map<ObjectKey, CachedObject>;
  // Counts all events of this cache's life; a watch keeps the number of the next one it wants.
  using Position = std::uint64_t;

  explicit WatchCache(WatchCacheLimits limits = {});

  // Whether a complete list was ever received. Until then nothing may be answered from here.
  [[nodiscard]] bool complete() const { return complete_; }
  // Up to where the cache has seen the scope; the version of lists and bookmarks.
  [[nodiscard]] Version version() const { return version_; }
  [[nodiscard]] const ScopeKind& kind() const { return kind_; }
  [[nodiscard]] const Objects& objects() const { return objects_; }
  [[nodiscard]] const CachedObject* find(const ObjectKey& key) const;

  // The bytes of all `objects`, with object_overhead for each.
  [[nodiscard]] static std::size_t bytes_of(const Objects& objects);
  // The same for the objects of this cache; memory_bytes() adds the events that it keeps.
  [[nodiscard]] std::size_t object_bytes() const { return object_bytes_; }
  [[nodiscard]] std::size_t memory_bytes() const { return object_bytes_ + event_bytes_; }
  // Frees the events that are kept: clients that have not seen the last one begin anew.
  void forget_events();

  // A complete list has arrived: the differences become events, which are returned. When clients
  // have seen local versions, history is broken off instead: their watches end with `gone`. No two
  // events have the same version: a deletion gets one that no change in the list has.
  std::vector<CacheEvent> replace(Objects objects, Version version, ScopeKind kind);
  // As read from disk at start: no events; watches may go on from `version`.
  void restore(Objects objects, Version version, ScopeKind kind);

  // One event from the server. A repeated or older one changes nothing and returns false.
  bool apply(CacheEvent event);
  // The server has nothing before `version` that was not sent.
  void bookmark(Version version);

  // A write accepted here. `event.object.version` is local and larger than any before.
  void apply_local(CacheEvent event);

  // Whether clients were shown local versions, so that only a new list leads back to the cloud's.
  [[nodiscard]] bool has_local_events() const { return has_local_events_; }

  // Where a watch that has seen `version` goes on; a client that knows more than the cache, from
  // the cloud itself, passes over events up to its version. Errors: gone (older than the history
  // kept, or of a history that was broken off).
  [[nodiscard]] Result<Position> position_of(Version version) const;
  [[nodiscard]] Position end() const { return first_ + events_.size(); }
  // The event at `position`, or null when it has not happened yet. Errors: gone.
  [[nodiscard]] Result<const CacheEvent*> at(Position position) const;

 private:
  void push(CacheEvent event);
  void break_off_history(Version version);

  WatchCacheLimits limits_;
  bool complete_ = false;
  Version version_ = 0;
  ScopeKind kind_;
  Objects objects_;
  std::deque<CacheEvent> events_;
  std::size_t event_bytes_ = 0;
  std::size_t object_bytes_ = 0;
  Position first_ = 0;        // position of events_.front()
  Version history_from_ = 0;  // watches that have seen this version, or a later one, can go on
  bool has_local_events_ = false;
};

}  // namespace holdfast::sync
