// Everything the agent caches: one WatchCache per scope in memory, and its rows in cache.db.
//
// What comes in is applied in memory at once and written in groups, for the flash's sake; flush()
// writes now. cache.db is relaxed: a power cut may take the last groups. A scope's first list, a
// token and the creation or deletion of a pod are made durable (one fsync) when they come. Watches
// of pods are told of a creation or deletion only once it is durable, because the kubelet acts on
// it; while the disk refuses, the scope is held and flush() tries again. After a start every scope
// that was complete is complete again, and watches go on where they were. The version of a scope's
// row is written only when no object that is written with it carries it, as after a deletion.
//
// Threading: the loop's thread only.

#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agent/edge/cache_limits.h"
#include "agent/edge/local_scope.h"
#include "platform/loop/event.h"
#include "store/answers.h"
#include "store/cache.h"
#include "store/sequence.h"

namespace holdfast::agent {

// The kind of a scope's objects, as it was learned from its first list; nothing: no list yet.
[[nodiscard]] Result<std::optional<sync::ScopeKind>> find_kind(store::Answers& answers,
                                                               const store::ScopeKey& key);

class Scopes {
 public:
  // Called for every scope that is restored or made: something must begin to feed it.
  using OnNew = std::function<void(ScopePtr)>;

  // `database` was migrated to store::cache_schema() and outlives this.
  Scopes(asio::any_io_executor executor, store::Database& database, const Clock& clock,
         const CacheLimits& limits, const store::Sealing& sealing = {});

  // Reads what the last run has left. Errors: the disk's.
  [[nodiscard]] Status restore();
  void on_new(OnNew callback);
  // Called for every scope that was dropped, by whomever.
  using OnDrop = std::function<void(const LocalScope&)>;
  void on_drop(OnDrop callback) { on_drop_ = std::move(callback); }

  // Asked before one of the node's own scopes makes room for another: whether a pod of the node
  // needs it.
  using IsNeeded = std::function<bool(const LocalScope&)>;
  void on_need(IsNeeded callback) { is_needed_ = std::move(callback); }

  [[nodiscard]] ScopePtr find(const store::ScopeKey& key) const;
  // May drop other scopes to make room: see CacheLimits. It has a row in cache.db only once its
  // first list came. Errors: exhausted (too many scopes).
  [[nodiscard]] Result<ScopePtr> open(const store::ScopeKey& key);
  // Forgets the scope and its rows. Errors: the disk's; then it stays.
  [[nodiscard]] Status drop(LocalScope& scope);
  // Writes which scopes were used, those for which that is news by a day.
  void remember_use();
  // Tokens and the like that ended a day ago.
  [[nodiscard]] Status remove_expired_answers();
  // A complete scope of the same owner, resource and encoding (any, if the key has none) that holds
  // the object, if it exists at all.
  [[nodiscard]] ScopePtr covering(const store::ScopeKey& resource, const sync::ObjectKey& object,
                                  bool selections_too) const;
  // Fills a scope that was never received from a complete one that holds all of it, as of then, in
  // whatever encoding; its own list comes when the cloud is back. False when there is none.
  bool derive(LocalScope& scope);
  // Whether a scope of that key could be filled so.
  [[nodiscard]] bool can_derive(const store::ScopeKey& key) const;
  // Notified when anything changed in any scope.
  [[nodiscard]] loop::Event& changed() { return changed_; }
  [[nodiscard]] const std::map<store::ScopeKey, ScopePtr>& all() const { return scopes_; }

  // What the reflector of a scope brings. Nothing happens once the scope is retired: a list-watch
  // ends a moment later than its scope. Errors: exhausted (CacheLimits); then nothing was changed.
  Status replace(LocalScope& scope, sync::WatchCache::Objects objects, sync::Version version,
                 const sync::ScopeKind& kind);
  Status apply(LocalScope& scope, sync::CacheEvent event);
  void bookmark(LocalScope& scope, sync::Version version);

  // A write accepted here, in one of the scopes that hold the object; flush() when all have it.
  void apply_local(LocalScope& scope, sync::CacheEvent event);
  // The next local version. Errors: the disk's.
  [[nodiscard]] Result<sync::Version> next_local_version();

  // Writes what has gathered, in one transaction or, when that fails, scope by scope. Durable if
  // one of the changes must be. Scopes that were held are announced. Errors: the disk's; what
  // could not be written stays gathered.
  [[nodiscard]] Status flush();
  [[nodiscard]] bool has_unwritten() const { return !unwritten_.empty(); }

  [[nodiscard]] const CacheLimits& limits() const { return limits_; }
  // Bytes of all scopes in memory, as CacheLimits count them.
  [[nodiscard]] std::size_t memory_bytes() const { return memory_bytes_; }
  // Scopes that were dropped to make room, since the start.
  [[nodiscard]] std::uint64_t evicted() const { return evicted_; }

  // Answers that are not lists: discovery, tokens.
  [[nodiscard]] Result<std::optional<store::Answer>> find_answer(std::string_view owner,
                                                                 std::string_view key);
  [[nodiscard]] Result<std::vector<std::string>> answer_keys(std::string_view owner,
                                                             std::string_view prefix);
  [[nodiscard]] Status put_answer(std::string_view owner, std::string_view key,
                                  const store::Answer& answer);

 private:
  struct Unwritten {
    ScopePtr scope;
    bool whole = false;    // the scope's whole content, not `names` alone
    bool durable = false;  // must survive a power cut from now on
    std::map<sync::ObjectKey, bool> names;
  };

  [[nodiscard]] Status restore_one(const store::Scope& row);
  [[nodiscard]] ScopePtr make(const store::ScopeKey& key);
  [[nodiscard]] Unwritten& unwritten_of(LocalScope& scope);
  // A scope's row as it is once the transaction is committed.
  struct Row {
    store::ScopeId id{};
    RowVersion version;
  };
  [[nodiscard]] Result<Row> write(const store::Transaction& in, const Unwritten& unwritten);
  [[nodiscard]] Result<Row> write_changes(const store::Transaction& in, const Unwritten& unwritten,
                                          store::ScopeId row);
  [[nodiscard]] store::Durability durability() const;
  [[nodiscard]] Status write_together();
  [[nodiscard]] Status write_alone(const Unwritten& unwritten);
  void note(LocalScope& scope, const sync::ObjectKey& key);
  void announce(LocalScope& scope);
  void release(LocalScope& scope);
  // Makes the scope's changes durable, and holds it until they are if it is one of pods.
  void make_durable(LocalScope& scope);

  // scopes_derive.cpp
  [[nodiscard]] std::vector<ScopePtr> wider_than(const store::ScopeKey& wanted) const;
  [[nodiscard]] Status fill(LocalScope& scope, const LocalScope& wider);

  // scope_quota.cpp
  [[nodiscard]] Status make_room_for(const store::ScopeKey& key);
  // Whether the scope may hold so much from now on. Makes room.
  [[nodiscard]] Status admit(const LocalScope& scope, std::size_t objects, std::size_t bytes);
  [[nodiscard]] Status admit_foreign(const LocalScope& scope, std::size_t bytes);
  [[nodiscard]] static std::size_t growth_of(const LocalScope& scope, std::size_t bytes);
  void account(LocalScope& scope);
  // Of one owner, or of all: "". Whether that freed anything.
  bool forget_events(std::string_view owner);
  bool drop_least_recently_used(const std::function<bool(const LocalScope&)>& among);
  bool drop_one_of(std::string_view owner);
  bool drop_bytes_of(std::string_view owner, const LocalScope& except);
  bool drop_foreign(std::size_t bytes_min);
  bool drop_least_needed();
  [[nodiscard]] std::size_t count_of(std::string_view owner) const;
  [[nodiscard]] std::size_t foreign_count() const;
  [[nodiscard]] std::string largest_foreign_owner() const;
  [[nodiscard]] std::size_t bytes_of(const std::string& owner) const;
  [[nodiscard]] Status limit_file();
  [[nodiscard]] Result<bool> fits(const store::Scope& row);
  [[nodiscard]] bool fits_by_number(const store::ScopeKey& key) const;

  asio::any_io_executor executor_;
  store::Database& database_;
  store::Cache cache_;
  store::Answers answers_;
  store::Sequence local_versions_;
  const Clock& clock_;
  CacheLimits limits_;
  loop::Event changed_;
  OnNew on_new_;
  OnDrop on_drop_;
  IsNeeded is_needed_ = [](const LocalScope&) { return false; };
  std::map<store::ScopeKey, ScopePtr> scopes_;
  std::uint64_t last_number_ = 0;
  std::map<ScopeNumber, Unwritten> unwritten_;
  std::size_t memory_bytes_ = 0;
  std::map<std::string, std::size_t> owner_bytes_;
  std::uint64_t evicted_ = 0;
};

}  // namespace holdfast::agent
