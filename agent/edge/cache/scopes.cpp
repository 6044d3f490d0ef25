#include "agent/edge/cache/scopes.h"

#include <algorithm>

#include "agent/edge/route/caller.h"
#include "platform/log.h"
#include "sync/watch/list_place.h"

namespace holdfast::agent {

using Step = sync::watch::RoomStep::Kind;

Scopes::Scopes(ScopeTable& table, CacheFile& file, StoredAnswers& answers, const Clock& clock)
    : table_(table), file_(file), answers_(answers), clock_(clock), rows_(file, clock) {
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
  for (const ScopePtr& scope : table_.all_but(nullptr)) table_.remove(scope);
  rows_.forget_unwritten();
  return {};
}

void Scopes::write_anew() {
  if (auto limited = rows_.limit_file(table_.limits().disk_bytes); !limited) {
    log_error("size of the cache on disk not limited", {{"error", limited.error()}});
  }
  for (const auto& [key, scope] : table_.all()) {
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
  if (auto limited = rows_.limit_file(table_.limits().disk_bytes); !limited) return limited;
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
  const ScopePtr scope = table_.add(row.key);
  scope->set_row(row.id);
  scope->set_last_used(row.last_used);
  // The node's own are always kept: they may show writes that the API server does not have yet.
  const bool is_foreign = row.key.owner != node_owner;
  const auto is_one_too_many = [this, &row] {
    const auto all = table_.facts_of(table_.all_but(nullptr));
    return !fits_by_number(all, row.key.owner, table_.limits());
  };
  if (is_foreign && is_one_too_many()) {
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
  table_.count_objects(*scope);
  return {};
}

Result<bool> Scopes::fits(const store::Scope& row, LocalScope& scope) {
  TRY(const store::CacheSize size, rows_.size(row));
  const auto objects = static_cast<std::size_t>(size.objects);
  const auto bytes = static_cast<std::size_t>(size.bytes);
  const auto place =
      sync::watch::place_of(row.key.owner, objects, bytes, table_.bytes(), table_.limits());
  if (place == sync::watch::ListPlace::disk) scope.set_keeps_on_disk(true);
  return place.has_value();
}

Result<ScopePtr> Scopes::open(const store::ScopeKey& key) {
  if (ScopePtr known = table_.find(key)) return known;
  if (auto room = make_room_for(key); !room) return fail(room.error());
  ScopePtr scope = table_.add(key);
  scope->note_use(clock_.mono());
  return scope;
}

Status Scopes::drop(LocalScope& scope) {
  if (auto removed = rows_.remove(scope); !removed) return removed;
  table_.remove(scope.shared_from_this());
  return {};
}

void Scopes::remember_use() {
  const WallTime now = clock_.wall();
  std::vector<LocalScope*> used;
  for (const auto& [key, scope] : table_.all()) {
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

Status Scopes::evict(const ScopePtr& scope) {
  if (auto dropped = drop(*scope); !dropped) {
    log_error("scope not dropped", {{"path", scope->path()}, {"error", dropped.error()}});
    return fail(Errc::exhausted, "a scope could not be dropped: " + dropped.error().what);
  }
  log_info("scope dropped", {{"path", scope->path()}, {"why", "quota"}});
  return {};
}

Status Scopes::make_room_for(const store::ScopeKey& key) {
  const std::vector<ScopePtr> all = table_.all_but(nullptr);
  const auto step = room_to_open(table_.facts_of(all), key.owner, table_.limits());
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
    if (has_room_for(growth, table_.bytes(), table_.limits())) return {};
    const std::vector<ScopePtr> others = table_.all_but(&scope);
    const auto step =
        room_to_grow(growth, table_.bytes(), table_.facts_of(others), table_.limits());
    if (step.kind == Step::refuse) return fail(Errc::exhausted, step.why);
    if (step.kind == Step::forget) {
      table_.forget_events(step.owner);
    } else if (auto evicted = evict(others[step.scope]); !evicted) {
      return evicted;
    }
  }
}

Status Scopes::flush() {
  drop_unreadable();
  return rows_.flush([this](LocalScope& scope) { release(scope); });
}

void Scopes::drop_unreadable() {
  std::vector<ScopePtr> lost;
  for (const auto& [key, scope] : table_.all()) {
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
  for (const auto& [key, scope] : table_.all()) {
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

void Scopes::release(LocalScope& scope) {
  if (scope.keeps_on_disk()) table_.count_objects(scope);
  if (!scope.held()) return;
  scope.set_held(false);
  table_.announce(scope);
}

}  // namespace holdfast::agent
