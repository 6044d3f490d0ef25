// One cached list (scope) as the running agent has it, and those who wait for it.
//
// Threading: the loop's thread only.

#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "agent/edge/scope_health.h"
#include "platform/loop/event.h"
#include "store/cache.h"
#include "sync/watch/watch_cache.h"

namespace holdfast::agent {

namespace asio = boost::asio;

// Names a scope for as long as the agent runs. No number is given twice, so what is kept under a
// number never belongs to a later scope.
enum class ScopeNumber : std::uint64_t {};

// How a scope is kept up to date.
enum class Feeding : std::uint8_t {
  list_watch,
  get,  // the one object that it holds is fetched by name; see sync::kind_got_by_name()
};

// A scope's version as its row in cache.db has it.
struct RowVersion {
  sync::Version version = 0;
  bool or_newest = false;  // if one of the scope's objects has a newer one, it is that
};

class LocalScope : public std::enable_shared_from_this<LocalScope> {
 public:
  LocalScope(asio::any_io_executor executor, store::ScopeKey key, ScopeNumber number)
      : key_(std::move(key)), number_(number), changed_(std::move(executor)) {}

  [[nodiscard]] const store::ScopeKey& key() const { return key_; }
  [[nodiscard]] ScopeNumber number() const { return number_; }
  // Of its row in cache.db; nothing: it was never written.
  [[nodiscard]] std::optional<store::ScopeId> row() const { return row_; }
  void set_row(store::ScopeId row) { row_ = row; }
  // The version that the row has; kept by Scopes.
  [[nodiscard]] const RowVersion& row_version() const { return row_version_; }
  void set_row_version(const RowVersion& version) { row_version_ = version; }

  [[nodiscard]] sync::WatchCache& cache() { return cache_; }
  [[nodiscard]] const sync::WatchCache& cache() const { return cache_; }
  // Notified when an event, a bookmark or completeness came.
  [[nodiscard]] loop::Event& changed() { return changed_; }

  // The name of the only object that it can hold; "": it may hold many.
  [[nodiscard]] std::string_view object_name() const;

  // What is known before the API server was asked: a node gets some kinds by name only.
  [[nodiscard]] Feeding usual_feeding() const;
  [[nodiscard]] Feeding feeding() const { return feeding_; }
  void feed_by(Feeding feeding) { feeding_ = feeding; }

  // Filled from another scope, and not from the cloud since. It is never written to the disk.
  [[nodiscard]] bool derived() const { return derived_; }
  void set_derived(bool derived) { derived_ = derived; }

  // When the last complete list came; MonoTime::min(): not in this run.
  [[nodiscard]] MonoTime listed_at() const { return listed_at_; }
  void set_listed_at(MonoTime time) { listed_at_ = time; }

  // Whether it can be refreshed. Changed by Feeders alone.
  [[nodiscard]] const ScopeHealth& health() const { return health_; }
  [[nodiscard]] ScopeHealth& health() { return health_; }
  // Whether the API server refuses to list or watch it (forbidden, no such resource).
  [[nodiscard]] bool refused() const { return health_.is_refused(); }

  // When a local client last asked for it in this run; MonoTime::min(): not in this run. What the
  // last run knew of it is last_used().
  [[nodiscard]] MonoTime used_at() const { return used_at_; }
  [[nodiscard]] WallTime last_used() const { return last_used_; }
  void note_use(MonoTime now) { used_at_ = now; }
  void set_last_used(WallTime time) { last_used_ = time; }
  // Which component asked. Those that run pods watch an object for as long as a pod needs it.
  void note_asker(std::string_view agent) {
    others_asked_ = others_asked_ || (agent != "kubelet" && agent != "holdfast-node");
  }
  [[nodiscard]] bool only_kubelet_asked() const {
    return used_at_ != MonoTime::min() && !others_asked_;
  }
  // Only the agent itself reads it, and does without it where a node may not.
  void set_optional() { optional_ = true; }
  [[nodiscard]] bool optional() const { return optional_; }
  // A local watch has it open from begin to end.
  void watch_begins() { ++watches_; }
  void watch_ends(MonoTime now) {
    --watches_;
    note_use(now);
  }
  [[nodiscard]] bool watched() const { return watches_ > 0; }

  // Nobody finds it any more; whoever holds it still is to let it go.
  void retire() {
    retired_ = true;
    changed_.notify_all();
  }
  [[nodiscard]] bool retired() const { return retired_; }

  // Whether a change that must survive a power cut is not on disk yet: until it is, watches say
  // nothing. Kept by Scopes.
  [[nodiscard]] bool held() const { return held_; }
  void set_held(bool held) { held_ = held; }

  // What it counts for in CacheLimits::memory_bytes; kept by Scopes.
  [[nodiscard]] std::size_t accounted() const { return accounted_; }
  void set_accounted(std::size_t bytes) { accounted_ = bytes; }

  // Below the server's prefix and without a query: "/api/v1/namespaces/a/pods".
  [[nodiscard]] std::string path() const;

 private:
  store::ScopeKey key_;
  ScopeNumber number_;
  std::optional<store::ScopeId> row_;
  RowVersion row_version_;
  sync::WatchCache cache_;
  loop::Event changed_;
  Feeding feeding_ = Feeding::list_watch;
  MonoTime listed_at_ = MonoTime::min();
  ScopeHealth health_;
  MonoTime used_at_ = MonoTime::min();
  WallTime last_used_{};
  std::size_t accounted_ = 0;
  int watches_ = 0;
  bool others_asked_ = false;
  bool optional_ = false;
  bool derived_ = false;
  bool retired_ = false;
  bool held_ = false;
};

using ScopePtr = std::shared_ptr<LocalScope>;

// The kubelet acts at once on what comes and goes in such a scope.
[[nodiscard]] inline bool holds_pods(const LocalScope& scope) {
  return scope.key().group.empty() && scope.key().resource == "pods";
}

}  // namespace holdfast::agent
