#include "agent/edge/cache/scope_content.h"

#include <algorithm>

#include "platform/log.h"
#include "sync/watch/list_place.h"

namespace holdfast::agent {

Status ScopeContent::write_part(LocalScope& scope, ScopeRows::Part& part,
                                const ScopeRows::ObjectRefs& objects) {
  if (scope.is_detached()) return {};
  if (!scope.keeps_on_disk()) {
    return fail(Errc::unavailable, "the list is kept in memory again");
  }
  return rows_.write_part(scope, part, objects);
}

void ScopeContent::note_replaced(LocalScope& scope,
                                 const sync::watch::WatchCache::Objects& objects) {
  for (const auto& [key, before] : scope.cache().objects()) {
    const auto now = objects.find(key);
    const bool stays = now != objects.end() && now->second.bytes == before.bytes;
    if (!stays) rows_.note_replaced(scope, before.bytes);
  }
}

void ScopeContent::return_to_memory(LocalScope& scope) {
  const sync::watch::WatchCache::Objects& objects = scope.cache().objects();
  std::size_t bytes = 0;
  for (const auto& [key, object] : objects) bytes += object.bytes.size();
  if (!returns_to_memory(scope.key().owner, objects.size(), bytes, table_.bytes(), table_.limits()))
    return;
  for (const auto& [key, object] : objects) {
    sync::watch::Body same = object.bytes;
    if (!same.is_in_memory()) same.take_back();
    // Nothing shows the others without it: the scope is listed again.
    if (!same.is_in_memory()) scope.set_unreadable(true);
  }
  log_info("list is kept in memory again", {{"path", scope.path()}});
  scope.set_keeps_on_disk(false);
}

Status ScopeContent::replace(LocalScope& scope, sync::watch::WatchCache::Objects objects,
                             sync::objects::Version version, const sync::wire::ScopeKind& kind,
                             ScopeRows::Part* part) {
  if (scope.is_detached()) return {};
  if (part != nullptr && rows_.is_outdated(*part)) {
    return fail(Errc::gone, "the cache was replaced while a list arrived");
  }
  const std::size_t bytes = sync::watch::WatchCache::memory_bytes_of(objects);
  if (auto room = scopes_.admit(scope, objects.size(), bytes); !room) return room;
  const bool was_stored = scope.cache().complete() && !scope.derived();
  if (was_stored) note_replaced(scope, objects);
  if (part != nullptr) rows_.note_part(scope, *part);
  scope.set_derived(false);
  const bool new_kind = scope.cache().kind() != kind;
  const auto changes = scope.cache().replace(std::move(objects), version, kind);
  if (scope.keeps_on_disk()) return_to_memory(scope);
  scope.set_refreshed_at(clock_.mono());
  scope.set_outdated(false);
  if (new_kind) {
    if (auto put = answers_.put_kind(scope.key(), kind); !put) {
      log_error("cache write failed", {{"error", put.error()}});
    }
  }
  rows_.note_version(scope);
  if (!was_stored) rows_.note_all(scope);
  // The first complete list must be durable: a restart serves from it.
  bool at_once = !was_stored;
  for (const sync::watch::CacheEvent& change : changes) {
    rows_.note_object(scope, change.key);
    const bool comes_or_goes = change.type != sync::watch::EventType::modified;
    at_once = at_once || (comes_or_goes && holds_pods(scope));
  }
  table_.count_objects(scope);
  if (at_once) make_durable(scope);
  table_.announce(scope);
  return {};
}

Status ScopeContent::apply(LocalScope& scope, sync::watch::CacheEvent event) {
  if (scope.is_detached()) return {};
  if (scope.keeps_on_disk() &&
      sync::watch::must_be_written(scope.cache().objects().size(), scope.object_memory())) {
    if (auto flushed = scopes_.flush(); !flushed) {
      log_error("cache write failed", {{"error", flushed.error()}});
    }
    if (scope.is_detached()) return {};
  }
  const sync::watch::WatchCache& cache = scope.cache();
  const sync::watch::ObjectKey key = event.key;
  const sync::watch::CachedObject* const known = cache.find(key);
  const bool was_there = known != nullptr;
  std::size_t bytes = scope.object_memory();
  if (was_there) bytes -= std::min(bytes, sync::watch::memory_of(*known));
  if (event.type != sync::watch::EventType::deleted) {
    if (scope.keeps_on_disk()) {
      const std::size_t all = cache.object_bytes() + event.object.bytes.size();
      if (auto fits = sync::watch::check_list_bytes(all, table_.limits()); !fits) return fits;
    }
    const std::size_t objects = cache.objects().size() + (was_there ? 0 : 1);
    bytes += sync::watch::memory_of(event.object);
    if (auto room = scopes_.admit(scope, objects, bytes); !room) return room;
  }
  if (was_there) rows_.note_replaced(scope, known->bytes);
  if (!scope.cache().apply(std::move(event))) return {};
  if (scope.keeps_on_disk()) scope.set_object_memory(bytes);
  table_.account(scope);
  rows_.note_object(scope, key);
  const bool is_there = scope.cache().find(key) != nullptr;
  if (was_there != is_there && holds_pods(scope)) make_durable(scope);
  table_.announce(scope);
  return {};
}

void ScopeContent::bookmark(LocalScope& scope, sync::objects::Version version) {
  if (scope.is_detached()) return;
  scope.cache().bookmark(version);
  scope.changed().notify_all();
}

void ScopeContent::apply_local(LocalScope& scope, sync::watch::CacheEvent event) {
  if (scope.is_detached()) return;
  const sync::watch::ObjectKey key = event.key;
  if (const auto* known = scope.cache().find(key)) rows_.note_replaced(scope, known->bytes);
  if (!scope.cache().apply_local(std::move(event))) return;
  table_.count_objects(scope);
  if (!scope.derived()) rows_.note_object(scope, key);
  table_.announce(scope);
}

bool ScopeContent::settle(LocalScope& scope, const sync::watch::WatchCache::States& answered) {
  if (scope.is_detached()) return false;
  std::map<sync::watch::ObjectKey, bool> was_there;
  for (const auto& [key, before] : scope.cache().written()) {
    const auto* known = scope.cache().find(key);
    was_there[key] = known != nullptr;
    if (known != nullptr) rows_.note_replaced(scope, known->bytes);
  }
  if (!scope.cache().settle(answered)) return false;
  bool at_once = false;
  for (const auto& [key, was] : was_there) {
    rows_.note_object(scope, key);
    const bool is_there = scope.cache().find(key) != nullptr;
    at_once = at_once || (was != is_there && holds_pods(scope));
  }
  table_.count_objects(scope);
  if (at_once) make_durable(scope);
  table_.announce(scope);
  return true;
}

bool ScopeContent::derive(LocalScope& scope) {
  if (scope.is_detached()) return false;
  for (const ScopePtr& wider : table_.wider_than(scope.key())) {
    const Status filled = fill(scope, *wider);
    if (filled) return true;
    log_warn("scope not filled from other scopes",
             {{"path", scope.path()}, {"encoding", scope.key().encoding}, {"why", filled.error()}});
  }
  return false;
}

Status ScopeContent::fill(LocalScope& scope, const LocalScope& wider) {
  TRY(auto objects, sync::watch::select(wider.cache(), selection_of(scope.key())));
  sync::wire::ScopeKind kind = wider.cache().kind();
  if (wider.key().encoding != scope.key().encoding) {
    kind.encoding = sync::wire::parse_encoding(scope.key().encoding).value_or(kind.encoding);
    TRY(objects, sync::watch::transcoded(std::move(objects), kind));
  }
  const std::size_t bytes = sync::watch::WatchCache::memory_bytes_of(objects);
  if (auto room = scopes_.admit(scope, objects.size(), bytes); !room) return room;
  scope.cache().restore(std::move(objects), wider.cache().version(), kind);
  scope.set_derived(true);
  table_.count_objects(scope);
  table_.announce(scope);
  return {};
}

void ScopeContent::make_durable(LocalScope& scope) {
  rows_.note_durable(scope);
  if (holds_pods(scope)) scope.set_held(true);
  if (auto flushed = scopes_.flush(); !flushed) {
    log_error("cache write failed", {{"error", flushed.error()}});
  }
}

}  // namespace holdfast::agent
