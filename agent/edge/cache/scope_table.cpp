#include "agent/edge/cache/scope_table.h"

#include <algorithm>
#include <utility>

#include "platform/check.h"
#include "sync/watch/selection.h"

namespace holdfast::agent {
namespace {

// Whether both keys are of the same resource and owner.
bool same_resource(const store::ScopeKey& a, const store::ScopeKey& b) {
  return a.owner == b.owner && a.group == b.group && a.version == b.version &&
         a.resource == b.resource;
}

// Whether the complete `scope` tells if the object exists.
bool knows_of(const LocalScope& scope, const sync::watch::ObjectKey& object, bool selections_too) {
  const store::ScopeKey& key = scope.key();
  const bool here = key.namespace_name.empty() || key.namespace_name == object.namespace_name;
  if (!here) return false;
  const bool unselected = key.label_selector.empty() && key.field_selector.empty();
  if (unselected || scope.object_name() == object.name) return true;
  // A scope with selectors that contains the object proves that it exists; one without it proves
  // nothing.
  return selections_too && scope.cache().find(object) != nullptr;
}

sync::watch::Extent extent_of(const LocalScope& scope) {
  if (!scope.object_name().empty()) return sync::watch::Extent::one_object;
  return scope.key().namespace_name.empty() ? sync::watch::Extent::cluster
                                            : sync::watch::Extent::one_namespace;
}

}  // namespace

ScopeTable::ScopeTable(asio::any_io_executor executor, const Clock& clock,
                       const sync::watch::CacheLimits& limits)
    : executor_(std::move(executor)),
      limits_(limits),
      changed_(executor_),
      membership_(executor_),
      snapshots_(clock) {}

ScopePtr ScopeTable::find(const store::ScopeKey& key) const {
  const auto at = scopes_.find(key);
  return at == scopes_.end() ? nullptr : at->second;
}

ScopePtr ScopeTable::covering(const store::ScopeKey& resource, const sync::watch::ObjectKey& object,
                              bool selections_too) const {
  for (const auto& [key, scope] : scopes_) {
    const bool readable = resource.encoding.empty() || key.encoding == resource.encoding;
    if (!same_resource(key, resource) || !readable || !scope->cache().complete()) continue;
    if (knows_of(*scope, object, selections_too)) return scope;
  }
  return nullptr;
}

std::vector<ScopePtr> ScopeTable::wider_than(const store::ScopeKey& wanted) const {
  std::vector<ScopePtr> found;
  const sync::watch::Selection selection = selection_of(wanted);
  for (const auto& [key, scope] : scopes_) {
    const bool usable = key != wanted && same_resource(key, wanted) && scope->cache().complete() &&
                        !scope->refused() && !scope->derived();
    if (!usable || !sync::watch::covers(selection_of(key), selection)) continue;
    const auto place = key.encoding == wanted.encoding ? found.begin() : found.end();
    found.insert(place, scope);
  }
  return found;
}

bool ScopeTable::is_needed(const LocalScope& scope) const {
  const std::string_view name = scope.object_name();
  if (name.empty()) return false;
  const store::ScopeKey& key = scope.key();
  return needed_.contains({key.resource, key.namespace_name, std::string(name)});
}

std::vector<ScopePtr> ScopeTable::all_but(const LocalScope* scope) const {
  std::vector<ScopePtr> others;
  others.reserve(scopes_.size());
  for (const auto& [key, each] : scopes_) {
    if (each.get() != scope) others.push_back(each);
  }
  return others;
}

sync::watch::ScopeFactsTable ScopeTable::facts_of(const std::vector<ScopePtr>& scopes) const {
  sync::watch::ScopeFactsTable table;
  table.reserve(scopes.size());
  for (const ScopePtr& scope : scopes) {
    table.push_back({.owner = scope->key().owner,
                     .extent = extent_of(*scope),
                     .is_watched = scope->watched(),
                     .keeps_writes = scope->cache().has_local_events(),
                     .is_needed = is_needed(*scope),
                     .bytes = scope->accounted(),
                     .event_bytes = scope->cache().history_bytes(),
                     .used_at = scope->used_at(),
                     .last_used = scope->last_used()});
  }
  return table;
}

ScopePtr ScopeTable::add(const store::ScopeKey& key) {
  auto scope = std::make_shared<LocalScope>(executor_, key, ScopeNumber{++last_number_});
  scope->set_fetch_mode(scope->default_fetch_mode());
  const bool is_new = scopes_.emplace(key, scope).second;
  CHECK(is_new);
  membership_.notify_all();
  return scope;
}

void ScopeTable::remove(const ScopePtr& scope) {
  const auto at = scopes_.find(scope->key());
  CHECK(at != scopes_.end() && at->second == scope);
  scope->detach();
  account(*scope);
  scopes_.erase(at);
  membership_.notify_all();
}

void ScopeTable::count_objects(LocalScope& scope) {
  // Only then some bytes are elsewhere.
  const bool counts = scope.keeps_on_disk() || scope.derived();
  scope.set_object_memory(
      counts ? std::optional(sync::watch::WatchCache::memory_bytes_of(scope.cache().objects()))
             : std::nullopt);
  account(scope);
}

void ScopeTable::account(LocalScope& scope) {
  const std::size_t history = scope.cache().history_bytes();
  const std::size_t now = scope.is_detached() ? 0 : scope.object_memory() + history;
  bytes_.change(scope.key().owner, scope.accounted(), now);
  scope.set_accounted(now);
  snapshots_.limit_unshared(limits_.memory_bytes - std::min(bytes_.all(), limits_.memory_bytes));
}

void ScopeTable::forget_events(std::string_view owner) {
  for (const auto& [key, scope] : scopes_) {
    if (!owner.empty() && key.owner != owner) continue;
    scope->cache().forget_events();
    account(*scope);
  }
}

void ScopeTable::announce(LocalScope& scope) {
  if (scope.held()) return;
  scope.changed().notify_all();
  changed_.notify_all();
}

}  // namespace holdfast::agent
