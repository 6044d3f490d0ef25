// How Scopes writes what has gathered in memory to cache.db.

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
    unwritten_.clear();
    return {};
  }
  // One scope may be at fault: each by itself, so that it does not keep the others from the disk.
  Status first;
  for (auto at = unwritten_.begin(); at != unwritten_.end();) {
    const Status alone = write_alone(*at->first, at->second);
    if (!alone && first) first = fail("write " + at->first->path(), alone.error());
    at = alone ? unwritten_.erase(at) : std::next(at);
  }
  return first;
}

Status Scopes::write_together() {
  TRY(store::Transaction transaction, database_.begin());
  for (const auto& [scope, unwritten] : unwritten_) {
    if (auto written = write(transaction, *scope, unwritten); !written) return written;
  }
  return transaction.commit();
}

Status Scopes::write_alone(LocalScope& scope, const Unwritten& unwritten) {
  TRY(store::Transaction transaction, database_.begin());
  if (auto written = write(transaction, scope, unwritten); !written) return written;
  return transaction.commit();
}

void Scopes::flush_or_log() {
  if (auto flushed = flush(); !flushed) {
    log_error("cache write failed", {{"error", flushed.error()}});
  }
}

Status Scopes::write(const store::Transaction& in, LocalScope& scope, const Unwritten& unwritten) {
  const sync::WatchCache& cache = scope.cache();
  const std::string version = std::to_string(cache.version());
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
    auto replaced = cache_.replace_all(in, scope.id(), version, names, object_at);
    if (!replaced) return fail(replaced.error());
    return {};
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
  return cache_.apply(in, scope.id(), changes);
}

}  // namespace holdfast::agent
