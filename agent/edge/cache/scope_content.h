// Changes what scopes hold: their objects in memory at once, and their rows in cache.db with the
// next flush.
//
// A scope's first list, and the creation or deletion of a pod, are made durable (one fsync) when
// they arrive. Watches of pods are told of a creation or deletion only once it is durable, because
// the kubelet acts on it; if the disk fails, the scope is held and Scopes::flush() retries.
//
// Threading: the loop's thread only.

#pragma once

#include "agent/edge/cache/scopes.h"

namespace holdfast::agent {

class ScopeContent {
 public:
  // All references are borrowed.
  ScopeContent(ScopeTable& table, Scopes& scopes, StoredAnswers& answers, const Clock& clock)
      : table_(table), scopes_(scopes), rows_(scopes.rows()), answers_(answers), clock_(clock) {}

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

  // Applies a write that was accepted here to one scope that holds the object. Call Scopes::flush()
  // after all of these scopes.
  void apply_local(LocalScope& scope, sync::watch::CacheEvent event);
  // WatchCache::settle() for a scope that shows local versions. Returns false if it must be listed.
  [[nodiscard]] bool settle(LocalScope& scope, const sync::watch::WatchCache::States& answered);

  // Fills a scope that was never received from a complete scope that contains all its objects, in
  // either encoding. Its own list follows when the cloud is back. Returns false if there is no such
  // scope.
  bool derive(LocalScope& scope);

 private:
  [[nodiscard]] Status fill(LocalScope& scope, const LocalScope& wider);
  // Takes the objects of a list on disk that has become small back into memory.
  void return_to_memory(LocalScope& scope);
  // Notes which bytes `objects` will replace in the file.
  void note_replaced(LocalScope& scope, const sync::watch::WatchCache::Objects& objects);
  // Writes the scope's changes durably now. A scope of pods is held until that worked.
  void make_durable(LocalScope& scope);

  ScopeTable& table_;
  Scopes& scopes_;
  ScopeRows& rows_;
  StoredAnswers& answers_;
  const Clock& clock_;
};

}  // namespace holdfast::agent
