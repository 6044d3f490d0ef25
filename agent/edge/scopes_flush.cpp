// How Scopes writes what has gathered in memory to cache.db.

#include <algorithm>
#include <utility>

#include "agent/edge/scopes.h"
#include "platform/log.h"
#include "sync/autonomy/version.h"

namespace holdfast::agent {
namespace {

store::CachedObject to_row(const sync::ObjectKey& key, const sync::CachedObject& object) {
  const bool local = sync::is_local(object.version);
  return {.name = {key.namespace_name, key.name},
          .uid = object.uid,
          .resource_version = std::to_string(object.version),
          .local_version = local ? static_cast<std::int64_t>(object.version) : 0,
          .bytes = *object.bytes};
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
  // One scope may be at fault: each by itself, so that it does not keep the others from the disk.
  Status first;
  for (auto at = unwritten_.begin(); at != unwritten_.end();) {
    const Status alone = write_alone(at->second);
    if (!alone && first) first = fail("write " + at->second.scope->path(), alone.error());
    if (alone) release(*at->second.scope);
    at = alone ? unwritten_.erase(at) : std::next(at);
  }
  return first;
}

store::Durability Scopes::durability() const {
  const bool full = std::any_of(unwritten_.begin(), unwritten_.end(),
                                [](const auto& each) { return each.second.durable; });
  return full ? store::Durability::full : store::cache_durability;
}

Status Scopes::write_together() {
  TRY(store::Transaction transaction, database_.begin(durability()));
  std::vector<store::ScopeId> rows;
  for (const auto& [number, unwritten] : unwritten_) {
    TRY(const store::ScopeId row, write(transaction, unwritten));
    rows.push_back(row);
  }
  if (auto committed = transaction.commit(); !committed) return committed;
  auto row = rows.begin();
  for (const auto& [number, unwritten] : unwritten_) unwritten.scope->set_row(*row++);
  return {};
}

Status Scopes::write_alone(const Unwritten& unwritten) {
  const auto durability = unwritten.durable ? store::Durability::full : store::cache_durability;
  TRY(store::Transaction transaction, database_.begin(durability));
  TRY(const store::ScopeId row, write(transaction, unwritten));
  if (auto committed = transaction.commit(); !committed) return committed;
  unwritten.scope->set_row(row);
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

Result<store::ScopeId> Scopes::write(const store::Transaction& in, const Unwritten& unwritten) {
  const LocalScope& scope = *unwritten.scope;
  const sync::WatchCache& cache = scope.cache();
  const std::string version = std::to_string(cache.version());
  store::ScopeId row{};
  if (scope.row()) {
    row = *scope.row();
  } else {
    TRY(const store::Scope opened, cache_.open_scope(in, scope.key(), clock_.wall()));
    row = opened.id;
  }
  if (unwritten.whole) {
    std::vector<store::ObjectName> names;
    for (const auto& [key, object] : cache.objects()) {
      names.push_back({key.namespace_name, key.name});
    }
    auto next = cache.objects().begin();
    const auto object_at = [&next](std::size_t) {
      const auto& [key, object] = *next++;
      return to_row(key, object);
    };
    auto replaced = cache_.replace_all(in, row, version, names, object_at);
    if (!replaced) return fail(replaced.error());
    return row;
  }
  store::ScopeChanges changes{.resource_version = version};
  for (const auto& [key, noted] : unwritten.names) {
    const sync::CachedObject* object = cache.find(key);
    if (object == nullptr) {
      changes.removed.push_back({key.namespace_name, key.name});
    } else {
      changes.changed.push_back(to_row(key, *object));
    }
  }
  if (auto applied = cache_.apply(in, row, changes); !applied) return fail(applied.error());
  return row;
}

}  // namespace holdfast::agent
