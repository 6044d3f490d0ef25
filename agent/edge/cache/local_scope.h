// One cached list (scope) in memory: its key, its WatchCache, how it is kept up to date, and how it
// is used.
//
// Threading: the loop's thread only.

#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "agent/edge/cache/scope_health.h"
#include "platform/loop/event.h"
#include "store/cache.h"
#include "sync/watch/selection.h"
#include "sync/watch/watch_cache.h"

namespace holdfast::agent {

namespace asio = boost::asio;

// Identifies a scope as long as the agent runs. Numbers are never reused, so data kept under a
// number never belongs to a later scope.
enum class ScopeNumber : std::uint64_t {};

// How a scope is kept up to date.
enum class FetchMode : std::uint8_t {
  list_watch,
  get,  // the one object that it holds is fetched by name; see sync::autonomy::kind_got_by_name()
};

// The version of a scope as stored in its row in cache.db.
struct RowVersion {
  sync::objects::Version version = 0;
  bool or_newest = false;  // the version is the newest object's, if that is newer
};

class LocalScope : public std::enable_shared_from_this<LocalScope> {
 public:
  LocalScope(asio::any_io_executor executor, store::ScopeKey key, ScopeNumber number)
      : key_(std::move(key)), number_(number), changed_(std::move(executor)) {}

  [[nodiscard]] const store::ScopeKey& key() const { return key_; }
  [[nodiscard]] ScopeNumber number() const { return number_; }
  // The scope's row in cache.db; nothing if it was never written.
  [[nodiscard]] std::optional<store::ScopeId> row() const { return row_; }
  void set_row(std::optional<store::ScopeId> row) { row_ = row; }
  // The version stored in the row; maintained by ScopeRows.
  [[nodiscard]] const RowVersion& row_version() const { return row_version_; }
  void set_row_version(const RowVersion& version) { row_version_ = version; }

  [[nodiscard]] sync::watch::WatchCache& cache() { return cache_; }
  [[nodiscard]] const sync::watch::WatchCache& cache() const { return cache_; }
  // Notified when the scope changes: an event, a bookmark, a complete list, its health, or its end.
  [[nodiscard]] loop::Event& changed() { return changed_; }

  // The name of the only object that the scope can hold, if its field selector is
  // metadata.name=NAME alone; "" if it may hold several.
  [[nodiscard]] std::string_view object_name() const;

  // The mode before the API server was asked: a node may get some kinds by name only.
  [[nodiscard]] FetchMode default_fetch_mode() const;
  [[nodiscard]] FetchMode fetch_mode() const { return fetch_mode_; }
  void set_fetch_mode(FetchMode fetch_mode) { fetch_mode_ = fetch_mode; }

  // Whether the objects were copied from another scope and not received from the cloud since. A
  // derived scope is never written to disk.
  [[nodiscard]] bool derived() const { return derived_; }
  void set_derived(bool derived) { derived_ = derived; }

  // When the last complete list arrived, or the API server granted the watch that continues at the
  // scope's version; MonoTime::min(): not in this run.
  [[nodiscard]] MonoTime refreshed_at() const { return refreshed_at_; }
  void set_refreshed_at(MonoTime time) { refreshed_at_ = time; }

  // When the list under way began; nothing: none is under way.
  [[nodiscard]] std::optional<MonoTime> listing_since() const { return listing_since_; }
  // A time at which the API server had nothing newer; MonoTime::min(): not known in this run.
  [[nodiscard]] MonoTime current_as_of() const { return current_as_of_; }
  void begin_list(MonoTime now) { listing_since_ = now; }
  void end_list(bool is_complete) {
    if (is_complete && listing_since_) current_as_of_ = *listing_since_;
    listing_since_.reset();
  }

  // Count this scope's lists that local clients are getting from the API server; see ForwardedList.
  void begin_forwarded_list() { ++forwarded_lists_; }
  void end_forwarded_list() {
    if (--forwarded_lists_ == 0) changed_.notify_all();
  }
  [[nodiscard]] bool is_forwarded() const { return forwarded_lists_ > 0; }

  // Whether its objects may belong to data that the API server does not have any more. Until its
  // next complete list its watch does not continue at its version.
  [[nodiscard]] bool is_outdated() const { return is_outdated_; }
  void set_outdated(bool outdated) { is_outdated_ = outdated; }

  // Whether the scope can be refreshed. Only ScopeReflectors changes it.
  [[nodiscard]] const ScopeHealth& health() const { return health_; }
  [[nodiscard]] ScopeHealth& health() { return health_; }
  // Whether the API server refuses to list or watch it (for example 403 or 404).
  [[nodiscard]] bool refused() const { return health_.is_refused(); }

  // When a local client last requested it in this run; MonoTime::min(): not in this run.
  // last_used() is what earlier runs stored.
  [[nodiscard]] MonoTime used_at() const { return used_at_; }
  [[nodiscard]] WallTime last_used() const { return last_used_; }
  void note_use(MonoTime now) { used_at_ = now; }
  void set_last_used(WallTime time) { last_used_ = time; }
  // Reports which component requested it. Components that run pods watch an object as long as a pod
  // needs it.
  void record_requester(std::string_view agent) {
    has_other_requesters_ =
        has_other_requesters_ || (agent != "kubelet" && agent != "holdfast-node");
  }
  // Whether only components that run pods have requested it in this run.
  [[nodiscard]] bool only_kubelet_requested() const {
    return used_at_ != MonoTime::min() && !has_other_requesters_;
  }
  // Marks a scope that only the agent itself reads and can do without if the node may not read it.
  void set_optional() { optional_ = true; }
  [[nodiscard]] bool optional() const { return optional_; }
  // Count the local watches on the scope.
  void add_watch() { ++watches_; }
  void remove_watch(MonoTime now) {
    --watches_;
    note_use(now);
  }
  [[nodiscard]] bool watched() const { return watches_ > 0; }

  // Marks the scope as removed from ScopeTable. Every holder must release it.
  void detach() {
    detached_ = true;
    changed_.notify_all();
  }
  [[nodiscard]] bool is_detached() const { return detached_; }

  // Whether a change that must be durable is not on disk yet; until it is, watches send nothing.
  // Maintained by Scopes.
  [[nodiscard]] bool held() const { return held_; }
  void set_held(bool held) { held_ = held; }

  // Whether the bytes of its objects are kept in cache.db only, because the list is too large for
  // memory. Its list is asked for in pages, and each page is written when it arrives.
  [[nodiscard]] bool keeps_on_disk() const { return keeps_on_disk_; }
  void set_keeps_on_disk(bool on_disk) { keeps_on_disk_ = on_disk; }
  // Whether bytes that are only in cache.db turned out to be lost. Scopes drops it then.
  [[nodiscard]] bool is_unreadable() const { return unreadable_; }
  void set_unreadable(bool unreadable) { unreadable_ = unreadable; }

  // What its objects need in memory; nothing: as much as if all bytes were there. Maintained by
  // ScopeTable.
  [[nodiscard]] std::size_t object_memory() const {
    return object_memory_.value_or(cache_.object_bytes());
  }
  void set_object_memory(std::optional<std::size_t> bytes) { object_memory_ = bytes; }
  // The bytes that it counts for in CacheLimits::memory_bytes; maintained by ScopeTable.
  [[nodiscard]] std::size_t accounted() const { return accounted_; }
  void set_accounted(std::size_t bytes) { accounted_ = bytes; }

  // The path of its list, without the server's prefix and a query: "/api/v1/namespaces/a/pods".
  [[nodiscard]] std::string path() const;

 private:
  store::ScopeKey key_;
  ScopeNumber number_;
  std::optional<store::ScopeId> row_;
  RowVersion row_version_;
  sync::watch::WatchCache cache_;
  loop::Event changed_;
  FetchMode fetch_mode_ = FetchMode::list_watch;
  MonoTime refreshed_at_ = MonoTime::min();
  std::optional<MonoTime> listing_since_;
  MonoTime current_as_of_ = MonoTime::min();
  ScopeHealth health_;
  MonoTime used_at_ = MonoTime::min();
  WallTime last_used_{};
  std::optional<std::size_t> object_memory_;
  std::size_t accounted_ = 0;
  int watches_ = 0;
  int forwarded_lists_ = 0;
  bool has_other_requesters_ = false;
  bool optional_ = false;
  bool is_outdated_ = false;
  bool derived_ = false;
  bool detached_ = false;
  bool held_ = false;
  bool keeps_on_disk_ = false;
  bool unreadable_ = false;
};

using ScopePtr = std::shared_ptr<LocalScope>;

// What the scope of that key selects.
[[nodiscard]] sync::watch::Selection selection_of(const store::ScopeKey& key);

// Whether the scope holds pods. The kubelet acts at once when pods appear in or disappear from such
// a scope.
[[nodiscard]] inline bool holds_pods(const LocalScope& scope) {
  return scope.key().group.empty() && scope.key().resource == "pods";
}

}  // namespace holdfast::agent
