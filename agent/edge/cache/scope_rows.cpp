#include "agent/edge/cache/scope_rows.h"

#include <algorithm>
#include <utility>

#include "sync/objects/version.h"
#include "sync/watch/cached_form.h"

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

// Parses that text. Nothing for other texts.
std::optional<RowVersion> parse_row_version(std::string_view text) {
  const bool or_newest = text.ends_with('+');
  if (or_newest) text.remove_suffix(1);
  const auto version = sync::objects::parse_version(text);
  if (!version) return std::nullopt;
  return RowVersion{*version, or_newest};
}

}  // namespace

Result<std::vector<store::Scope>> ScopeRows::all() {
  TRY(CacheFile::Tables* const tables, file_.tables());
  return tables->cache.scopes();
}

Result<store::CacheSize> ScopeRows::size(const store::Scope& row) {
  TRY(CacheFile::Tables* const tables, file_.tables());
  return tables->cache.size(row.id);
}

Status ScopeRows::read(const store::Scope& row, sync::wire::ScopeKind kind, LocalScope& scope) {
  const auto version = parse_row_version(row.resource_version);
  if (!version) return {};
  scope.set_row_version(*version);
  sync::objects::Version newest = version->version;
  sync::watch::WatchCache::Objects objects;
  const auto take = [&objects, &kind, &newest](store::CachedObject object) -> Status {
    const auto of_object = sync::objects::parse_version(object.resource_version);
    if (!of_object) return fail(Errc::corrupt, "resourceVersion of " + object.name.name);
    newest = std::max(newest, *of_object);
    // The stored kind is shared by all scopes of a resource; the objects themselves show their
    // encoding.
    const sync::wire::Encoding encoding = sync::watch::encoding_of(object.bytes);
    if (objects.empty()) kind.encoding = encoding;
    if (kind.encoding != encoding) return fail(Errc::corrupt, "encoding of " + object.name.name);
    objects[{std::move(object.name.namespace_name), std::move(object.name.name)}] = {
        std::move(object.uid), *of_object,
        std::make_shared<const std::string>(std::move(object.bytes))};
    return {};
  };
  TRY(CacheFile::Tables* const tables, file_.tables());
  if (auto visited = tables->cache.visit(row.id, {}, take); !visited) return visited;
  const sync::objects::Version seen = version->or_newest ? newest : version->version;
  scope.cache().restore(std::move(objects), seen, kind);
  return {};
}

Status ScopeRows::remove(LocalScope& scope) {
  const Status removed = file_.run([&scope](CacheFile::Tables& tables) -> Status {
    const auto row = scope.row();
    if (!row) return {};
    TRY(store::Transaction transaction, tables.database.begin());
    if (auto dropped = tables.cache.drop_scope(transaction, *row); !dropped) return dropped;
    return transaction.commit();
  });
  if (removed) unwritten_.erase(scope.number());
  return removed;
}

void ScopeRows::forget(LocalScope& scope) {
  scope.set_row(std::nullopt);
  scope.set_row_version({});
}

Status ScopeRows::touch(const std::vector<LocalScope*>& scopes, WallTime now) {
  return file_.run([&scopes, now](CacheFile::Tables& tables) -> Status {
    TRY(store::Transaction transaction, tables.database.begin());
    for (const LocalScope* scope : scopes) {
      if (!scope->row()) continue;
      if (auto done = tables.cache.touch(transaction, *scope->row(), now); !done) return done;
    }
    return transaction.commit();
  });
}

Status ScopeRows::limit_file(std::int64_t bytes) {
  TRY(const store::Database::Pages pages, file_.database().pages());
  // A quarter remains for the write-ahead log, which a checkpoint empties.
  const std::int64_t most = bytes / 4 * 3 / std::max<std::int64_t>(pages.bytes, 512);
  return file_.database().execute("PRAGMA max_page_count = " +
                                  std::to_string(std::max(most, pages.total)));
}

ScopeRows::Unwritten& ScopeRows::unwritten_of(LocalScope& scope) {
  Unwritten& unwritten = unwritten_[scope.number()];
  unwritten.scope = scope.shared_from_this();
  return unwritten;
}

Status ScopeRows::flush(const OnWritten& written) {
  if (unwritten_.empty()) return {};
  if (write_together()) {
    const auto all = std::exchange(unwritten_, {});
    for (const auto& [number, unwritten] : all) written(*unwritten.scope);
    return {};
  }
  // One scope may cause the failure, so each is written by itself.
  Status first;
  for (auto at = unwritten_.begin(); at != unwritten_.end();) {
    const Status alone = write_alone(at->second);
    if (!alone && first) first = fail("write " + at->second.scope->path(), alone.error());
    if (alone) written(*at->second.scope);
    at = alone ? unwritten_.erase(at) : std::next(at);
  }
  return first;
}

store::Durability ScopeRows::durability() const {
  const bool full = std::any_of(unwritten_.begin(), unwritten_.end(),
                                [](const auto& each) { return each.second.durable; });
  return full ? store::Durability::full : store::cache_durability;
}

Status ScopeRows::write_together() {
  std::vector<Row> rows;
  const Status done = file_.run([this, &rows](CacheFile::Tables& tables) -> Status {
    rows.clear();
    TRY(store::Transaction transaction, tables.database.begin(durability()));
    for (const auto& [number, unwritten] : unwritten_) {
      TRY(const Row row, write(tables.cache, transaction, unwritten));
      rows.push_back(row);
    }
    return transaction.commit();
  });
  if (!done) return done;
  auto row = rows.begin();
  for (const auto& [number, unwritten] : unwritten_) {
    unwritten.scope->set_row(row->id);
    unwritten.scope->set_row_version(row->version);
    ++row;
  }
  return {};
}

Status ScopeRows::write_alone(const Unwritten& unwritten) {
  TRY(const Row row, file_.run([this, &unwritten](CacheFile::Tables& tables) -> Result<Row> {
    const auto durability = unwritten.durable ? store::Durability::full : store::cache_durability;
    TRY(store::Transaction transaction, tables.database.begin(durability));
    TRY(const Row written, write(tables.cache, transaction, unwritten));
    if (auto committed = transaction.commit(); !committed) return fail(committed.error());
    return written;
  }));
  unwritten.scope->set_row(row.id);
  unwritten.scope->set_row_version(row.version);
  return {};
}

Result<ScopeRows::Row> ScopeRows::write(store::Cache& file, const store::Transaction& in,
                                        const Unwritten& unwritten) const {
  const LocalScope& scope = *unwritten.scope;
  const sync::watch::WatchCache& cache = scope.cache();
  store::ScopeId row{};
  if (scope.row()) {
    row = *scope.row();
  } else {
    TRY(const store::Scope opened, file.open_scope(in, scope.key(), clock_.wall()));
    row = opened.id;
  }
  if (!unwritten.whole) return write_changes(file, in, unwritten, row);
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
  auto replaced = file.replace_all(in, row, to_text(version), names, object_at);
  if (!replaced) return fail(replaced.error());
  return Row{row, version};
}

Result<ScopeRows::Row> ScopeRows::write_changes(store::Cache& file, const store::Transaction& in,
                                                const Unwritten& unwritten, store::ScopeId row) {
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
  if (auto applied = file.apply(in, row, changes); !applied) return fail(applied.error());
  return Row{row, stays ? before : version};
}

}  // namespace holdfast::agent
