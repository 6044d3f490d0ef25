// The part of Scopes that writes changes from memory to cache.db.

#include <algorithm>
#include <utility>

#include "agent/edge/cache/scopes.h"
#include "platform/log.h"
#include "sync/objects/version.h"

namespace holdfast::agent {
namespace {

store::CachedObject to_row(const sync::watch::ObjectKey& key,
                           const sync::watch::CachedObject& object) {
  const bool local = sync::objects::is_local(object.version);
  return {.name = {key.namespace_name, key.name},
          .uid = object.uid,
          .resource_version = std::to_string(object.version),
          .local_version = local ? static_cast<std::int64_t>(object.version) : 0,
          .bytes = *object.bytes};
}

// Some API servers version lists and objects independently. Then the newest object does not show
// the list's version, and the row must.
RowVersion row_version_of(const sync::watch::WatchCache& cache) {
  const auto is_seen = [&cache](const auto& each) {
    return each.second.version <= cache.version();
  };
  return {cache.version(), std::all_of(cache.objects().begin(), cache.objects().end(), is_seen)};
}

// "12", or "12+" with or_newest.
std::string to_text(const RowVersion& version) {
  return std::to_string(version.version) + (version.or_newest ? "+" : "");
}

}  // namespace

Status Scopes::flush() {
  if (unwritten_.empty()) return {};
  const Status together = write_together();
  if (together) {
    const auto written = std::exchange(unwritten_, {});
    for (const auto& [number, unwritten] : written) release(*unwritten.scope);
    return {};
  }
  // One scope may cause the failure, so each is written by itself.
  Status first;
  for (auto at = unwritten_.begin(); at != unwritten_.end();) {
    const Status alone = write_alone(at->second);
    if (!alone && first) first = fail("write " + at->second.scope->path(), alone.error());
    if (alone) release(*at->second.scope);
    at = alone ? unwritten_.erase(at) : std::next(at);
  }
  return first;
}

Status Scopes::flush_versions() {
  for (const auto& [key, scope] : scopes_) {
    const bool is_stored = scope->row() && scope->cache().complete() && !scope->derived();
    if (is_stored && scope->row_version().version != scope->cache().version()) {
      (void)unwritten_of(*scope);
    }
  }
  return flush();
}

store::Durability Scopes::durability() const {
  const bool full = std::any_of(unwritten_.begin(), unwritten_.end(),
                                [](const auto& each) { return each.second.durable; });
  return full ? store::Durability::full : store::cache_durability;
}

Status Scopes::write_together() {
  TRY(store::Transaction transaction, database_.begin(durability()));
  std::vector<Row> rows;
  for (const auto& [number, unwritten] : unwritten_) {
    TRY(const Row row, write(transaction, unwritten));
    rows.push_back(row);
  }
  if (auto committed = transaction.commit(); !committed) return committed;
  auto row = rows.begin();
  for (const auto& [number, unwritten] : unwritten_) {
    unwritten.scope->set_row(row->id);
    unwritten.scope->set_row_version(row->version);
    ++row;
  }
  return {};
}

Status Scopes::write_alone(const Unwritten& unwritten) {
  const auto durability = unwritten.durable ? store::Durability::full : store::cache_durability;
  TRY(store::Transaction transaction, database_.begin(durability));
  TRY(const Row row, write(transaction, unwritten));
  if (auto committed = transaction.commit(); !committed) return committed;
  unwritten.scope->set_row(row.id);
  unwritten.scope->set_row_version(row.version);
  return {};
}

void Scopes::make_durable(LocalScope& scope) {
  unwritten_of(scope).durable = true;
  if (holds_pods(scope)) scope.set_held(true);
  if (auto flushed = flush(); !flushed) {
    log_error("cache write failed", {{"error", flushed.error()}});
  }
}

void Scopes::release(LocalScope& scope) {
  if (!scope.held()) return;
  scope.set_held(false);
  announce(scope);
}

Result<Scopes::Row> Scopes::write(const store::Transaction& in, const Unwritten& unwritten) {
  const LocalScope& scope = *unwritten.scope;
  const sync::watch::WatchCache& cache = scope.cache();
  store::ScopeId row{};
  if (scope.row()) {
    row = *scope.row();
  } else {
    TRY(const store::Scope opened, cache_.open_scope(in, scope.key(), clock_.wall()));
    row = opened.id;
  }
  if (!unwritten.whole) return write_changes(in, unwritten, row);
  std::vector<store::ObjectName> names;
  for (const auto& [key, object] : cache.objects()) {
    names.push_back({key.namespace_name, key.name});
  }
  auto next = cache.objects().begin();
  const auto object_at = [&next](std::size_t) {
    const auto& [key, object] = *next++;
    return to_row(key, object);
  };
  const RowVersion version = row_version_of(cache);
  auto replaced = cache_.replace_all(in, row, to_text(version), names, object_at);
  if (!replaced) return fail(replaced.error());
  return Row{row, version};
}

Result<Scopes::Row> Scopes::write_changes(const store::Transaction& in, const Unwritten& unwritten,
                                          store::ScopeId row) {
  const sync::watch::WatchCache& cache = unwritten.scope->cache();
  store::ScopeChanges changes;
  bool carried = false;  // whether an object that is written has the scope's version
  for (const auto& [key, noted] : unwritten.names) {
    const sync::watch::CachedObject* object = cache.find(key);
    if (object == nullptr) {
      changes.removed.push_back({key.namespace_name, key.name});
    } else {
      changes.changed.push_back(to_row(key, *object));
      carried = carried || object->version == cache.version();
    }
  }
  const RowVersion version = row_version_of(cache);
  const RowVersion& before = unwritten.scope->row_version();
  // The row may have a later version: from local writes, or if the server was restored from a
  // backup. Then it must be written.
  const bool stays =
      carried && version.or_newest && before.or_newest && before.version <= version.version;
  if (!stays) changes.resource_version = to_text(version);
  if (auto applied = cache_.apply(in, row, changes); !applied) return fail(applied.error());
  return Row{row, stays ? before : version};
}

}  // namespace holdfast::agent
