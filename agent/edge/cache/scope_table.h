// The scopes that there are, and what they take of the limit of memory. Scopes opens and drops
// them, ScopeContent changes their objects; everyone else reads.
//
// Threading: the loop's thread only.

#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <map>
#include <string_view>
#include <vector>

#include "agent/edge/cache/list_snapshots.h"
#include "agent/edge/cache/local_scope.h"
#include "platform/loop/event.h"
#include "sync/autonomy/references.h"
#include "sync/watch/scope_room.h"

namespace holdfast::agent {

class ScopeTable {
 public:
  // The clock must outlive this.
  ScopeTable(asio::any_io_executor executor, const Clock& clock,
             const sync::watch::CacheLimits& limits);
  ScopeTable(const ScopeTable&) = delete;
  ScopeTable& operator=(const ScopeTable&) = delete;

  [[nodiscard]] const std::map<store::ScopeKey, ScopePtr>& all() const { return scopes_; }
  // The scope of that key, or null.
  [[nodiscard]] ScopePtr find(const store::ScopeKey& key) const;
  // Finds a complete scope of the same owner, resource and encoding (any, if the key has none) that
  // tells whether `object` exists. With `selections_too`, also a scope with selectors that contains
  // it. Null if there is none.
  [[nodiscard]] ScopePtr covering(const store::ScopeKey& resource,
                                  const sync::watch::ObjectKey& object, bool selections_too) const;
  // The complete scopes that contain all objects of that key's scope, in either encoding; those in
  // its own come first.
  [[nodiscard]] std::vector<ScopePtr> wider_than(const store::ScopeKey& wanted) const;

  // Notified when any scope has changed.
  [[nodiscard]] loop::Event& changed() { return changed_; }
  // Notified when scopes were added or removed.
  [[nodiscard]] loop::Event& membership() { return membership_; }

  // What the pods of the node need, as PodNeeds has found it; until then nothing.
  void set_needed(sync::autonomy::NeededObjects needed) { needed_ = std::move(needed); }
  // Whether a pod needs the one object that the scope holds.
  [[nodiscard]] bool is_needed(const LocalScope& scope) const;

  [[nodiscard]] const sync::watch::CacheLimits& limits() const { return limits_; }
  // The bytes of all scopes in memory, as counted for CacheLimits::memory_bytes.
  [[nodiscard]] std::size_t memory_bytes() const { return bytes_.all(); }
  [[nodiscard]] const sync::watch::ScopeBytes& bytes() const { return bytes_; }
  // Snapshots of lists that clients read in pages. What they no longer share with the scopes counts
  // for CacheLimits::memory_bytes and makes room for the scopes.
  [[nodiscard]] ListSnapshots& snapshots() { return snapshots_; }
  // All scopes but one, which may be null; and what the rules for room read of scopes.
  [[nodiscard]] std::vector<ScopePtr> all_but(const LocalScope* scope) const;
  [[nodiscard]] sync::watch::ScopeFactsTable facts_of(const std::vector<ScopePtr>& scopes) const;

  // For Scopes and ScopeContent.

  // Makes a scope of a key that has none.
  ScopePtr add(const store::ScopeKey& key);
  // Removes and detaches a scope.
  void remove(const ScopePtr& scope);
  // Counts the scope's bytes as they are now, first those of its objects or only the others.
  void count_objects(LocalScope& scope);
  void account(LocalScope& scope);
  // Drops the events kept for watches that resume, of one owner or of all ("").
  void forget_events(std::string_view owner);
  // The scope has changed: notifies all who wait for that, unless it is held.
  void announce(LocalScope& scope);

 private:
  asio::any_io_executor executor_;
  const sync::watch::CacheLimits limits_;
  loop::Event changed_;
  loop::Event membership_;
  std::map<store::ScopeKey, ScopePtr> scopes_;
  std::uint64_t last_number_ = 0;
  sync::watch::ScopeBytes bytes_;
  ListSnapshots snapshots_;
  sync::autonomy::NeededObjects needed_;
};

}  // namespace holdfast::agent
