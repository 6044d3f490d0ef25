#include "agent/edge/cache/scopes.h"

#include <algorithm>

#include "agent/edge/route/caller.h"
#include "platform/check.h"
#include "platform/log.h"
#include "sync/watch/list_place.h"

namespace holdfast::agent {

Scopes::Scopes(asio::any_io_executor executor, CacheFile& file, StoredAnswers& answers,
               const Clock& clock, const sync::watch::CacheLimits& limits)
    : executor_(std::move(executor)),
      answers_(answers),
      clock_(clock),
      limits_(limits),
      file_(file),
      rows_(file, clock),
      changed_(executor_),
      snapshots_(clock) {
  file_.on_replaced([this] { write_anew(); });
}

Scopes::~Scopes() { file_.on_replaced(nullptr); }

Status Scopes::restore() {
  const std::uint64_t replacements = file_.replacements();
  const Status restored = restore_all();
  if (!restored && restored.error().code != Errc::corrupt) return restored;
  if (!restored) {
    if (auto replaced = file_.replace(restored.error()); !replaced) return replaced;
  }
  if (file_.replacements() == replacements) return {};
  // What was read from a damaged file is not trusted: an object that it lacks would look deleted.
  for (const auto& [key, scope] : std::exchange(scopes_, {})) {
    scope->detach();
    account(*scope);
  }
  rows_.forget_unwritten();
  return {};
}

void Scopes::write_anew() {
  if (auto limited = rows_.limit_file(limits_.disk_bytes); !limited) {
    log_error("size of the cache on disk not limited", {{"error", limited.error()}});
  }
  for (const auto& [key, scope] : scopes_) {
    if (scope->keeps_on_disk() && scope->cache().complete()) {
      // What is only in the file is lost with it, unless it was copied.
      if (rows_.is_intact(*scope)) continue;
      scope->set_unreadable(true);
      rows_.forget(*scope);
      continue;
    }
    rows_.forget(*scope);
    if (!scope->cache().complete() || scope->derived()) continue;
    rows_.note_all(*scope);
    rows_.note_durable(*scope);
    if (auto put = answers_.put_kind(key, scope->cache().kind()); !put) {
      log_error("cache write failed", {{"error", put.error()}});
    }
  }
}

Status Scopes::restore_all() {
  if (auto limited = rows_.limit_file(limits_.disk_bytes); !limited) return limited;
  if (auto dropped = rows_.drop_parts(); !dropped) return dropped;
  TRY(std::vector<store::Scope> rows, rows_.all());
  // If not all fit, the node's scopes come first, then the most recently used ones.
  const auto foreign = std::stable_partition(rows.begin(), rows.end(), [](const store::Scope& row) {
    return row.key.owner == node_owner;
  });
  std::stable_sort(foreign, rows.end(), [](const store::Scope& a, const store::Scope& b) {
    return a.last_used > b.last_used;
  });
  const std::uint64_t replacements = file_.replacements();
  for (const store::Scope& row : rows) {
    const auto done = restore_one(row);
    if (file_.replacements() != replacements) return {};  // the new file has no rows
    if (done) continue;
    if (done.error().code == Errc::denied) {
      // It is treated as never received; the next list is encrypted with the current key.
      log_error("scope cannot be decrypted",
                {{"resource", row.key.resource}, {"error", done.error()}});
      continue;
    }
    if (done.error().code != Errc::corrupt)
      return fail("restore " + row.key.resource, done.error());
    // The node would take a missing object for deleted. So the scope is treated as never complete
    // and listed again.
    log_error("scope was damaged", {{"resource", row.key.resource}, {"error", done.error()}});
    if (auto sound = rows_.quick_check(); !sound) return sound;
  }
  return {};
}

Status Scopes::restore_one(const store::Scope& row) {
  const ScopePtr scope = make(row.key);
  scope->set_row(row.id);
  scope->set_last_used(row.last_used);
  // The node's own are always kept: they may show writes that the API server does not have yet.
  const bool is_foreign = row.key.owner != node_owner;
  if (is_foreign && !fits_by_number(facts_of(all_but(nullptr)), row.key.owner, limits_)) {
    log_warn("too many scopes on disk: scope dropped", {{"path", scope->path()}});
    return drop(*scope);
  }
  if (!row.complete) return {};
  TRY(const bool fitting, fits(row, *scope));
  if (!fitting) {
    log_warn("scope on disk exceeds the limits: dropped", {{"path", scope->path()}});
    return drop(*scope);  // It is fetched again when it is requested.
  }
  TRY(const auto kind, answers_.kind_of(row.key));
  if (!kind) return {};  // Treated as never complete: it is listed again.
  if (auto read = rows_.read(row, *kind, *scope); !read) return read;
  count_objects(*scope);
  return {};
}

void Scopes::on_new(OnNew callback) {
  CHECK(!on_new_);
  on_new_ = std::move(callback);
  for (const auto& [key, scope] : scopes_) on_new_(scope);
}

ScopePtr Scopes::find(const store::ScopeKey& key) const {
  const auto at = scopes_.find(key);
  return at == scopes_.end() ? nullptr : at->second;
}

ScopePtr Scopes::make(const store::ScopeKey& key) {
  auto scope = std::make_shared<LocalScope>(executor_, key, ScopeNumber{++last_number_});
  scope->set_fetch_mode(scope->default_fetch_mode());
  scopes_[key] = scope;
  return scope;
}

Result<ScopePtr> Scopes::open(const store::ScopeKey& key) {
  if (ScopePtr known = find(key)) return known;
  if (auto room = make_room_for(key); !room) return fail(room.error());
  ScopePtr scope = make(key);
  scope->note_use(clock_.mono());
  if (on_new_) on_new_(scope);
  return scope;
}

Status Scopes::drop(LocalScope& scope) {
  const auto at = scopes_.find(scope.key());
  CHECK(at != scopes_.end() && at->second.get() == &scope);
  if (auto removed = rows_.remove(scope); !removed) return removed;
  scope.detach();
  account(scope);
  // Keeps the scope alive until the callback has returned.
  const ScopePtr kept = at->second;
  scopes_.erase(at);
  if (on_drop_) on_drop_(*kept);
  return {};
}

void Scopes::remember_use() {
  const WallTime now = clock_.wall();
  std::vector<LocalScope*> used;
  for (const auto& [key, scope] : scopes_) {
    if (scope->watched()) scope->note_use(clock_.mono());
    const Duration news =
        now > scope->last_used() ? now - scope->last_used() : scope->last_used() - now;
    const bool in_this_run = scope->used_at() != MonoTime::min();
    const bool news_by_a_day = in_this_run && news >= std::chrono::hours(24);
    if (news_by_a_day && scope->row()) used.push_back(scope.get());
  }
  if (used.empty()) return;
  if (auto written = rows_.touch(used, now); !written) {
    log_error("last use of scopes not stored", {{"error", written.error()}});
    return;
  }
  for (LocalScope* scope : used) scope->set_last_used(now);
}

Status Scopes::write_part(LocalScope& scope, ScopeRows::Part& part,
                          const ScopeRows::ObjectRefs& objects) {
  if (scope.is_detached()) return {};
  if (!scope.keeps_on_disk()) {
    return fail(Errc::unavailable, "the list is kept in memory again");
  }
  return rows_.write_part(scope, part, objects);
}

void Scopes::note_replaced(LocalScope& scope, const sync::watch::WatchCache::Objects& objects) {
  for (const auto& [key, before] : scope.cache().objects()) {
    const auto now = objects.find(key);
    const bool stays = now != objects.end() && now->second.bytes == before.bytes;
    if (!stays) rows_.note_replaced(scope, before.bytes);
  }
}

void Scopes::return_to_memory(LocalScope& scope) {
  const sync::watch::WatchCache::Objects& objects = scope.cache().objects();
  std::size_t bytes = 0;
  for (const auto& [key, object] : objects) bytes += object.bytes.size();
  if (!returns_to_memory(scope.key().owner, objects.size(), bytes, bytes_, limits_)) return;
  for (const auto& [key, object] : objects) {
    sync::watch::Body same = object.bytes;
    if (!same.is_in_memory()) same.take_back();
  }
  log_info("list is kept in memory again", {{"path", scope.path()}});
  scope.set_keeps_on_disk(false);
}

Status Scopes::replace(LocalScope& scope, sync::watch::WatchCache::Objects objects,
                       sync::objects::Version version, const sync::wire::ScopeKind& kind,
                       ScopeRows::Part* part) {
  if (scope.is_detached()) return {};
  if (part != nullptr && rows_.is_outdated(*part)) {
    return fail(Errc::gone, "the cache was replaced while a list arrived");
  }
  const std::size_t bytes = sync::watch::WatchCache::memory_bytes_of(objects);
  if (auto room = admit(scope, objects.size(), bytes); !room) return room;
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
  count_objects(scope);
  if (at_once) make_durable(scope);
  announce(scope);
  return {};
}

Status Scopes::apply(LocalScope& scope, sync::watch::CacheEvent event) {
  if (scope.is_detached()) return {};
  const std::size_t objects_before = scope.cache().objects().size();
  if (scope.keeps_on_disk() &&
      sync::watch::must_be_written(objects_before, scope.object_memory())) {
    if (auto flushed = flush(); !flushed) {
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
    const std::size_t all = cache.object_bytes() + event.object.bytes.size();
    if (scope.keeps_on_disk()) {
      if (auto fits = sync::watch::check_list_bytes(all, limits_); !fits) return fits;
    }
    const std::size_t objects = cache.objects().size() + (was_there ? 0 : 1);
    bytes += sync::watch::memory_of(event.object);
    if (auto room = admit(scope, objects, bytes); !room) return room;
  }
  if (was_there) rows_.note_replaced(scope, known->bytes);
  if (!scope.cache().apply(std::move(event))) return {};
  if (scope.keeps_on_disk()) scope.set_object_memory(bytes);
  account(scope);
  rows_.note_object(scope, key);
  const bool is_there = scope.cache().find(key) != nullptr;
  if (was_there != is_there && holds_pods(scope)) make_durable(scope);
  announce(scope);
  return {};
}

void Scopes::bookmark(LocalScope& scope, sync::objects::Version version) {
  if (scope.is_detached()) return;
  scope.cache().bookmark(version);
  scope.changed().notify_all();
}

void Scopes::note(LocalScope& scope, const sync::watch::ObjectKey& key) {
  if (!scope.derived()) rows_.note_object(scope, key);
  announce(scope);
}

void Scopes::announce(LocalScope& scope) {
  if (scope.held()) return;
  scope.changed().notify_all();
  changed_.notify_all();
}

void Scopes::apply_local(LocalScope& scope, sync::watch::CacheEvent event) {
  if (scope.is_detached()) return;
  const sync::watch::ObjectKey key = event.key;
  if (const auto* known = scope.cache().find(key)) rows_.note_replaced(scope, known->bytes);
  if (!scope.cache().apply_local(std::move(event))) return;
  count_objects(scope);
  note(scope, key);
}

bool Scopes::settle(LocalScope& scope, const sync::watch::WatchCache::States& answered) {
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
  count_objects(scope);
  if (at_once) make_durable(scope);
  announce(scope);
  return true;
}

Status Scopes::flush() {
  drop_unreadable();
  return rows_.flush([this](LocalScope& scope) { release(scope); });
}

void Scopes::drop_unreadable() {
  std::vector<ScopePtr> lost;
  for (const auto& [key, scope] : scopes_) {
    if (scope->is_unreadable()) lost.push_back(scope);
  }
  for (const ScopePtr& scope : lost) {
    log_error("scope dropped, its objects in the cache are lost", {{"path", scope->path()}});
    if (auto dropped = drop(*scope); !dropped) {
      log_error("scope not dropped", {{"path", scope->path()}, {"error", dropped.error()}});
    }
  }
}

Status Scopes::flush_versions() {
  for (const auto& [key, scope] : scopes_) {
    const bool is_stored = scope->row() && scope->cache().complete() && !scope->derived();
    if (is_stored && scope->row_version().version != scope->cache().version()) {
      rows_.note_version(*scope);
    }
  }
  return flush();
}

Status Scopes::check_file() {
  if (auto checked = file_.check(); !checked) return checked;
  return flush();
}

void Scopes::make_durable(LocalScope& scope) {
  rows_.note_durable(scope);
  if (holds_pods(scope)) scope.set_held(true);
  if (auto flushed = flush(); !flushed) {
    log_error("cache write failed", {{"error", flushed.error()}});
  }
}

void Scopes::release(LocalScope& scope) {
  if (scope.keeps_on_disk()) count_objects(scope);
  if (!scope.held()) return;
  scope.set_held(false);
  announce(scope);
}

}  // namespace holdfast::agent
