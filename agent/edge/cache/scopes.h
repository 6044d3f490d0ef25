// All cached scopes: one WatchCache per scope in memory, and its rows in cache.db (ScopeRows).
//
// Changes are applied in memory at once and written to disk in groups; flush() writes them now. A
// scope's first list, and the creation or deletion of a pod, are made durable (one fsync) when they
// arrive. Watches of pods are told of a creation or deletion only once it is durable, because the
// kubelet acts on it; if the disk fails, the scope is held and flush() retries. After a restart
// every scope that was complete is complete again, and watches resume where they were.
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

#include "agent/edge/cache/list_snapshots.h"
#include "agent/edge/cache/local_scope.h"
#include "agent/edge/cache/scope_rows.h"
#include "agent/edge/cache/stored_answers.h"
#include "platform/loop/event.h"
#include "sync/watch/scope_room.h"

namespace holdfast::agent {

class Scopes {
 public:
  // Called for every restored or new scope, so that it is fed.
  using OnNew = std::function<void(ScopePtr)>;

  // All references are borrowed.
  Scopes(asio::any_io_executor executor, CacheFile& file, StoredAnswers& answers,
         const Clock& clock, const sync::watch::CacheLimits& limits);
  Scopes(const Scopes&) = delete;
  Scopes& operator=(const Scopes&) = delete;
  ~Scopes();

  // Restores the scopes of the last run. If the file is damaged, it is replaced, and there are
  // none. Errors: the disk's; corrupt if it is not to be replaced.
  [[nodiscard]] Status restore();
  // Sets the callback and calls it for all existing scopes.
  void on_new(OnNew callback);
  // Called for every scope that was dropped, for whatever reason.
  using OnDrop = std::function<void(const LocalScope&)>;
  void on_drop(OnDrop callback) { on_drop_ = std::move(callback); }

  // Asked when scopes must make room: whether a pod of the node needs this one.
  using IsNeeded = std::function<bool(const LocalScope&)>;
  void on_need(IsNeeded callback) { is_needed_ = std::move(callback); }

  // The scope of that key, or null.
  [[nodiscard]] ScopePtr find(const store::ScopeKey& key) const;
  // Returns the scope of that key and makes it if needed. May drop other scopes to make room; see
  // CacheLimits. A new scope gets its row in cache.db with its first list. Errors: exhausted (too
  // many scopes).
  [[nodiscard]] Result<ScopePtr> open(const store::ScopeKey& key);
  // Removes the scope and its rows. Errors: the disk's; then it stays.
  [[nodiscard]] Status drop(LocalScope& scope);
  // Stores when scopes were last used, if the stored time is a day or more off.
  void remember_use();
  // Finds a complete scope of the same owner, resource and encoding (any, if the key has none) that
  // tells whether `object` exists. With `selections_too`, also a scope with selectors that contains
  // it. Null if there is none.
  [[nodiscard]] ScopePtr covering(const store::ScopeKey& resource,
                                  const sync::watch::ObjectKey& object, bool selections_too) const;
  // Fills a scope that was never received from a complete scope that contains all its objects, in
  // either encoding. Its own list follows when the cloud is back. Returns false if there is no such
  // scope.
  bool derive(LocalScope& scope);
  // Whether derive() would find a scope to fill that key's scope from.
  [[nodiscard]] bool can_derive(const store::ScopeKey& key) const;
  // Notified when any scope has changed.
  [[nodiscard]] loop::Event& changed() { return changed_; }
  [[nodiscard]] const std::map<store::ScopeKey, ScopePtr>& all() const { return scopes_; }

  // Changes from the reflector of a scope. Ignored if the scope is retired, because a list-watch
  // ends slightly later than its scope. Errors: exhausted (CacheLimits); then nothing was changed.
  // `part` has what was written of the list while it arrived; null: nothing.
  Status replace(LocalScope& scope, sync::watch::WatchCache::Objects objects,
                 sync::objects::Version version, const sync::wire::ScopeKind& kind,
                 ScopeRows::Part* part = nullptr);
  Status apply(LocalScope& scope, sync::watch::CacheEvent event);
  void bookmark(LocalScope& scope, sync::objects::Version version);

  // As in ScopeRows: for a scope that keeps its objects on disk. Errors: also unavailable (it does
  // not any more).
  [[nodiscard]] Status write_part(LocalScope& scope, ScopeRows::Part& part,
                                  const ScopeRows::ObjectRefs& objects);
  void drop_part(ScopeRows::Part& part) { rows_.drop_part(part); }

  // Applies a write that was accepted here to one scope that holds the object. Call flush() after
  // all of these scopes.
  void apply_local(LocalScope& scope, sync::watch::CacheEvent event);

  // WatchCache::settle() for a scope that shows local versions. Returns false if it must be listed.
  [[nodiscard]] bool settle(LocalScope& scope, const sync::watch::WatchCache::States& answered);

  // Writes all unwritten changes, as ScopeRows::flush(). Then notifies the watches of held scopes.
  // Drops the scopes whose objects turned out to be unreadable: they are listed again when they are
  // requested. Errors: the disk's; changes that could not be written stay unwritten.
  [[nodiscard]] Status flush();
  // As flush(), but also writes how far each scope has come without changes of its objects, so that
  // its watch continues there after a restart.
  [[nodiscard]] Status flush_versions();

  // Checks the file, and writes all scopes anew if it was damaged. Errors: the disk's.
  [[nodiscard]] Status check_file();

  [[nodiscard]] const sync::watch::CacheLimits& limits() const { return limits_; }
  // Bytes of all scopes in memory, as counted for CacheLimits::memory_bytes.
  [[nodiscard]] std::size_t memory_bytes() const { return bytes_.all(); }
  // Snapshots of lists that clients read in pages. What they no longer share with the scopes counts
  // for CacheLimits::memory_bytes and makes room for the scopes.
  [[nodiscard]] ListSnapshots& snapshots() { return snapshots_; }
  // Number of scopes dropped to make room since the start.
  [[nodiscard]] std::uint64_t evicted() const { return evicted_; }

 private:
  [[nodiscard]] Status restore_all();
  [[nodiscard]] Status restore_one(const store::Scope& row);
  // Notes all scopes as unwritten, because the file was replaced.
  void write_anew();
  [[nodiscard]] ScopePtr make(const store::ScopeKey& key);
  // Marks an object as unwritten and notifies waiters.
  void note(LocalScope& scope, const sync::watch::ObjectKey& key);
  // Notifies waiters, unless the scope is held.
  void announce(LocalScope& scope);
  // The scope's changes are on disk: counts it anew, and ends its hold.
  void release(LocalScope& scope);
  void drop_unreadable();
  // Takes the objects of a list on disk that has become small back into memory.
  void return_to_memory(LocalScope& scope);
  // Notes which bytes `objects` will replace in the file.
  void note_replaced(LocalScope& scope, const sync::watch::WatchCache::Objects& objects);
  // Writes the scope's changes durably now. A scope of pods is held until that worked.
  void make_durable(LocalScope& scope);

  // scopes_derive.cpp
  [[nodiscard]] std::vector<ScopePtr> wider_than(const store::ScopeKey& wanted) const;
  [[nodiscard]] Status fill(LocalScope& scope, const LocalScope& wider);

  // scopes_room.cpp
  // What the rules for room read of these scopes.
  [[nodiscard]] sync::watch::ScopeFactsTable facts_of(const std::vector<ScopePtr>& scopes) const;
  // All scopes but one, which may be null.
  [[nodiscard]] std::vector<ScopePtr> all_but(const LocalScope* scope) const;
  [[nodiscard]] Status make_room_for(const store::ScopeKey& key);
  // Makes room for the scope to hold `objects` objects and `bytes` bytes. Errors: exhausted.
  [[nodiscard]] Status admit(const LocalScope& scope, std::size_t objects, std::size_t bytes);
  // Drops a scope for want of room. Errors: exhausted, because of the disk.
  [[nodiscard]] Status evict(const ScopePtr& scope);
  // Drops the events kept for watches that resume, of one owner or of all ("").
  void forget_events(std::string_view owner);
  // Counts the scope's bytes as they are now, first those of its objects or only the others.
  void count_objects(LocalScope& scope);
  void account(LocalScope& scope);
  // Whether a restored scope fits the limits. The run that stored it may have had larger ones. One
  // of the node's that does not fit into memory keeps its objects on disk.
  [[nodiscard]] Result<bool> fits(const store::Scope& row, LocalScope& scope);

  asio::any_io_executor executor_;
  StoredAnswers& answers_;
  const Clock& clock_;
  sync::watch::CacheLimits limits_;
  CacheFile& file_;
  ScopeRows rows_;
  loop::Event changed_;
  OnNew on_new_;
  OnDrop on_drop_;
  IsNeeded is_needed_ = [](const LocalScope&) { return false; };
  std::map<store::ScopeKey, ScopePtr> scopes_;
  std::uint64_t last_number_ = 0;
  sync::watch::ScopeBytes bytes_;
  std::uint64_t evicted_ = 0;
  ListSnapshots snapshots_;
};

}  // namespace holdfast::agent
