// The part of Scopes that performs what the rules in sync/watch/scope_room.h answer: which scopes
// are dropped to make room.

#include <algorithm>

#include "agent/edge/cache/scopes.h"
#include "platform/log.h"
#include "sync/watch/list_place.h"

namespace holdfast::agent {
namespace {

using sync::watch::Extent;
using Step = sync::watch::RoomStep::Kind;

Extent extent_of(const LocalScope& scope) {
  if (!scope.object_name().empty()) return Extent::one_object;
  return scope.key().namespace_name.empty() ? Extent::cluster : Extent::one_namespace;
}

}  // namespace

sync::watch::ScopeFactsTable Scopes::facts_of(const std::vector<ScopePtr>& scopes) const {
  sync::watch::ScopeFactsTable table;
  table.reserve(scopes.size());
  for (const ScopePtr& scope : scopes) {
    table.push_back({.owner = scope->key().owner,
                     .extent = extent_of(*scope),
                     .is_watched = scope->watched(),
                     .keeps_writes = scope->cache().has_local_events(),
                     .is_needed = is_needed_(*scope),
                     .bytes = scope->accounted(),
                     .event_bytes = scope->cache().history_bytes(),
                     .used_at = scope->used_at(),
                     .last_used = scope->last_used()});
  }
  return table;
}

std::vector<ScopePtr> Scopes::all_but(const LocalScope* scope) const {
  std::vector<ScopePtr> others;
  others.reserve(scopes_.size());
  for (const auto& [key, each] : scopes_) {
    if (each.get() != scope) others.push_back(each);
  }
  return others;
}

Status Scopes::evict(const ScopePtr& scope) {
  if (auto dropped = drop(*scope); !dropped) {
    log_error("scope not dropped", {{"path", scope->path()}, {"error", dropped.error()}});
    return fail(Errc::exhausted, "a scope could not be dropped: " + dropped.error().what);
  }
  ++evicted_;
  log_info("scope dropped", {{"path", scope->path()}, {"why", "quota"}});
  return {};
}

Status Scopes::make_room_for(const store::ScopeKey& key) {
  const std::vector<ScopePtr> all = all_but(nullptr);
  const auto step = room_to_open(facts_of(all), key.owner, limits_);
  if (step.kind == Step::refuse) return fail(Errc::exhausted, step.why);
  return step.kind == Step::drop ? evict(all[step.scope]) : Status();
}

Status Scopes::admit(const LocalScope& scope, std::size_t objects, std::size_t bytes) {
  for (;;) {
    const sync::watch::Growth growth{.owner = scope.key().owner,
                                     .objects = objects,
                                     .bytes = bytes,
                                     .bytes_before = scope.object_memory(),
                                     .event_bytes = scope.cache().history_bytes(),
                                     .counted = scope.accounted()};
    if (has_room_for(growth, bytes_, limits_)) return {};
    const std::vector<ScopePtr> others = all_but(&scope);
    const auto step = room_to_grow(growth, bytes_, facts_of(others), limits_);
    if (step.kind == Step::refuse) return fail(Errc::exhausted, step.why);
    if (step.kind == Step::forget) {
      forget_events(step.owner);
    } else if (auto evicted = evict(others[step.scope]); !evicted) {
      return evicted;
    }
  }
}

void Scopes::forget_events(std::string_view owner) {
  for (const auto& [key, scope] : scopes_) {
    if (!owner.empty() && key.owner != owner) continue;
    scope->cache().forget_events();
    account(*scope);
  }
}

void Scopes::count_objects(LocalScope& scope) {
  // Only then some bytes are elsewhere.
  const bool counts = scope.keeps_on_disk() || scope.derived();
  scope.set_object_memory(
      counts ? std::optional(sync::watch::WatchCache::memory_bytes_of(scope.cache().objects()))
             : std::nullopt);
  account(scope);
}

void Scopes::account(LocalScope& scope) {
  const std::size_t history = scope.cache().history_bytes();
  const std::size_t now = scope.is_detached() ? 0 : scope.object_memory() + history;
  bytes_.change(scope.key().owner, scope.accounted(), now);
  scope.set_accounted(now);
  snapshots_.limit_unshared(limits_.memory_bytes - std::min(bytes_.all(), limits_.memory_bytes));
}

Result<bool> Scopes::fits(const store::Scope& row, LocalScope& scope) {
  TRY(const store::CacheSize size, rows_.size(row));
  const auto objects = static_cast<std::size_t>(size.objects);
  const auto bytes = static_cast<std::size_t>(size.bytes);
  const auto place = sync::watch::place_of(row.key.owner, objects, bytes, bytes_, limits_);
  if (place == sync::watch::ListPlace::disk) scope.set_keeps_on_disk(true);
  return place.has_value();
}

}  // namespace holdfast::agent
