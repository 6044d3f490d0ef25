#include "agent/edge/cache/scope_rows.h"

#include <algorithm>
#include <utility>

#include "platform/check.h"
#include "platform/log.h"
#include "sync/objects/version.h"
#include "sync/watch/cached_form.h"
#include "sync/watch/list_place.h"

namespace holdfast::agent {
namespace {

// Errors: those of Body::load().
Result<store::CachedObject> to_row(const sync::watch::ObjectKey& key,
                                   const sync::watch::CachedObject& object) {
  const bool local = sync::objects::is_local(object.version);
  TRY(const sync::watch::Bytes bytes, object.bytes.load());
  return store::CachedObject{.name = {key.namespace_name, key.name},
                             .uid = object.uid,
                             .resource_version = std::to_string(object.version),
                             .local_version = local ? static_cast<std::int64_t>(object.version) : 0,
                             .bytes = *bytes};
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
  const std::shared_ptr<const RowSource> source = source_of(scope, row.id);
  const bool on_disk = scope.keeps_on_disk();
  const auto take = [&objects, &kind, &newest, &source,
                     on_disk](store::CachedObject object) -> Status {
    const auto of_object = sync::objects::parse_version(object.resource_version);
    if (!of_object) return fail(Errc::corrupt, "resourceVersion of " + object.name.name);
    newest = std::max(newest, *of_object);
    // The stored kind is shared by all scopes of a resource; the objects themselves show their
    // encoding.
    const sync::wire::Encoding encoding = sync::watch::encoding_of(object.bytes);
    if (objects.empty()) kind.encoding = encoding;
    if (kind.encoding != encoding) return fail(Errc::corrupt, "encoding of " + object.name.name);
    sync::watch::ObjectKey key{std::move(object.name.namespace_name), std::move(object.name.name)};
    sync::watch::Body bytes = std::make_shared<const std::string>(std::move(object.bytes));
    if (on_disk) bytes.move_to(std::make_unique<RowBody>(source, key, *of_object));
    objects.insert_or_assign(
        std::move(key),
        sync::watch::CachedObject{std::move(object.uid), *of_object, std::move(bytes)});
    return {};
  };
  TRY(CacheFile::Tables* const tables, file_.tables());
  if (auto visited = tables->cache.visit(row.id, {}, take); !visited) return visited;
  const sync::objects::Version seen = version->or_newest ? newest : version->version;
  scope.cache().restore(std::move(objects), seen, kind);
  return {};
}

Status ScopeRows::remove(LocalScope& scope) {
  std::vector<store::ScopeId> rows;
  if (scope.row()) rows.push_back(*scope.row());
  if (const auto found = unwritten_.find(scope.number()); found != unwritten_.end()) {
    rows.insert(rows.end(), found->second.parts.begin(), found->second.parts.end());
  }
  const Status removed = file_.run([&rows](CacheFile::Tables& tables) -> Status {
    if (rows.empty()) return {};
    TRY(store::Transaction transaction, tables.database.begin());
    for (const store::ScopeId row : rows) {
      if (auto dropped = tables.cache.drop_scope(transaction, row); !dropped) return dropped;
    }
    return transaction.commit();
  });
  if (removed) unwritten_.erase(scope.number());
  return removed;
}

void ScopeRows::forget(LocalScope& scope) {
  // A flush may be under way, so the entry stays.
  if (const auto found = unwritten_.find(scope.number()); found != unwritten_.end()) {
    found->second.parts.clear();
  }
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
  file_bytes_max_ = bytes / 4 * 3;
  const std::int64_t most = file_bytes_max_ / std::max<std::int64_t>(pages.bytes, 512);
  return file_.database().execute("PRAGMA max_page_count = " +
                                  std::to_string(std::max(most, pages.total)));
}

ScopeRows::Unwritten& ScopeRows::unwritten_of(LocalScope& scope) {
  Unwritten& unwritten = unwritten_[scope.number()];
  unwritten.scope = scope.shared_from_this();
  return unwritten;
}

std::shared_ptr<const RowSource> ScopeRows::source_of(LocalScope& scope, store::ScopeId row) {
  return std::make_shared<const RowSource>(
      RowSource{file_, scope.weak_from_this(), scope.key(), row});
}

Status ScopeRows::write_part(LocalScope& scope, Part& part, const ObjectRefs& objects) {
  if (objects.empty()) return {};
  TRY(const store::Database::Pages pages, file_.database().pages());
  const std::int64_t used = (pages.total - pages.free) * pages.bytes;
  if (auto room = sync::watch::check_share(used, file_bytes_max_); !room) return room;
  // Converted one by one, so that the page is not held twice.
  const auto object_at = [&objects](std::size_t index) -> std::optional<store::CachedObject> {
    auto row = to_row(objects[index].first, *objects[index].second);
    CHECK(row);  // Its bytes are in memory.
    return *std::move(row);
  };
  struct Written {
    store::ScopeId scope;
    store::ScopeId part;
  };
  const auto put = [this, &scope, &part, &objects,
                    &object_at](CacheFile::Tables& tables) -> Result<Written> {
    if (is_outdated(part)) return fail(Errc::gone, "the cache was replaced while a list arrived");
    TRY(store::Transaction transaction, tables.database.begin());
    TRY(const store::Scope row, tables.cache.open_scope(transaction, scope.key(), clock_.wall()));
    Written written{row.id, part.id.value_or(store::ScopeId{})};
    if (!part.id) {
      TRY(written.part, tables.cache.begin_part(transaction, row.id, clock_.wall()));
    }
    auto done = tables.cache.put_part(transaction, row.id, written.part, objects.size(), object_at);
    if (done) done = transaction.commit();
    if (!done) return fail(done.error());
    return written;
  };
  TRY(const Written written, file_.run(put));
  // Even if the list fails: whoever drops the scope deletes its row.
  scope.set_row(written.scope);
  part = {written.part, file_.replacements()};
  const std::shared_ptr<const RowSource> source = source_of(scope, written.part);
  for (const auto& [key, object] : objects) {
    object->bytes.move_to(std::make_unique<RowBody>(source, key, object->version));
  }
  return {};
}

void ScopeRows::drop_part(Part& part) {
  const bool is_there = part.id && !is_outdated(part);
  const store::ScopeId id = std::exchange(part.id, {}).value_or(store::ScopeId{});
  if (!is_there) return;
  const Status dropped = file_.run([id](CacheFile::Tables& tables) -> Status {
    TRY(store::Transaction transaction, tables.database.begin());
    if (auto done = tables.cache.drop_scope(transaction, id); !done) return done;
    return transaction.commit();
  });
  // The next start deletes it.
  if (!dropped) log_error("pages of a list not deleted", {{"error", dropped.error()}});
}

Status ScopeRows::drop_parts() {
  return file_.run([](CacheFile::Tables& tables) -> Status {
    TRY(store::Transaction transaction, tables.database.begin());
    if (auto done = tables.cache.drop_parts(transaction); !done) return done;
    return transaction.commit();
  });
}

bool ScopeRows::is_intact(const LocalScope& scope) {
  const auto tables = file_.tables();
  const auto unwritten = unwritten_.find(scope.number());
  const bool adopts = unwritten != unwritten_.end() && !unwritten->second.parts.empty();
  if (!tables || !scope.row() || adopts) return false;
  const auto found = (*tables)->cache.find_scope(scope.key());
  return found && *found && (*found)->complete && (*found)->id == *scope.row() &&
         (*found)->resource_version == to_text(scope.row_version());
}

void ScopeRows::take_back() {
  std::erase_if(taken_back_, [](const auto& bytes) { return bytes.use_count() == 1; });
  std::size_t held = 0;
  for (const auto& bytes : taken_back_) held += bytes.memory_bytes();
  for (auto& [number, unwritten] : unwritten_) {
    for (sync::watch::Body& bytes : std::exchange(unwritten.replaced, {})) {
      if (bytes.use_count() == 1 || !sync::watch::may_take_back(held, bytes.size())) continue;
      bytes.take_back();
      held += bytes.memory_bytes();
      taken_back_.push_back(std::move(bytes));
    }
  }
}

void ScopeRows::finish(const Unwritten& unwritten, const Row& row) {
  LocalScope& scope = *unwritten.scope;
  scope.set_row(row.id);
  scope.set_row_version(row.version);
  if (!scope.keeps_on_disk()) return;
  const std::shared_ptr<const RowSource> source = source_of(scope, row.id);
  for (const auto& [key, object] : scope.cache().objects()) {
    // What was in a part is in the scope's row now.
    if (!object.bytes.is_in_memory() && unwritten.parts.empty()) continue;
    sync::watch::Body bytes = object.bytes;
    bytes.move_to(std::make_unique<RowBody>(source, key, object.version));
  }
}

Status ScopeRows::flush(const OnWritten& written) {
  if (unwritten_.empty()) return {};
  take_back();
  if (write_together()) {
    const auto all = std::exchange(unwritten_, {});
    for (const auto& [number, unwritten] : all) written(*unwritten.scope);
    return {};
  }
  // One scope may cause the failure, so each is written by itself.
  Status first;
  for (auto at = unwritten_.begin(); at != unwritten_.end();) {
    const Status alone = write_alone(at->second);
    // Rows of it are missing, so no later attempt can work: it is listed again.
    if (!alone && alone.error().code == Errc::gone) at->second.scope->set_unreadable(true);
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
  for (const auto& [number, unwritten] : unwritten_) finish(unwritten, *row++);
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
  finish(unwritten, row);
  return {};
}

Result<ScopeRows::Row> ScopeRows::write(store::Cache& file, const store::Transaction& in,
                                        const Unwritten& unwritten) const {
  const LocalScope& scope = *unwritten.scope;
  const sync::watch::WatchCache& cache = scope.cache();
  if (scope.is_unreadable()) return fail(Errc::gone, "its objects are lost");
  store::ScopeId row{};
  if (scope.row()) {
    row = *scope.row();
  } else {
    TRY(const store::Scope opened, file.open_scope(in, scope.key(), clock_.wall()));
    row = opened.id;
  }
  for (const store::ScopeId part : unwritten.parts) {
    TRY(row, file.adopt_part(in, row, part));
  }
  TRY(const Row written, unwritten.whole ? write_all(file, in, unwritten, row)
                                         : write_changes(file, in, unwritten, row));
  if (!scope.keeps_on_disk() || unwritten.parts.empty()) return written;
  // A row that is not there would look like an object that does not exist.
  TRY(const store::CacheSize size, file.size(written.id));
  if (static_cast<std::size_t>(size.objects) == cache.objects().size()) return written;
  return fail(Errc::gone, "the file has " + std::to_string(size.objects) + " of " +
                              std::to_string(cache.objects().size()) + " objects");
}

Result<ScopeRows::Row> ScopeRows::write_all(store::Cache& file, const store::Transaction& in,
                                            const Unwritten& unwritten, store::ScopeId row) {
  const sync::watch::WatchCache& cache = unwritten.scope->cache();
  std::vector<store::ObjectName> names;
  for (const auto& [key, object] : cache.objects()) {
    names.push_back({key.namespace_name, key.name});
  }
  auto next = cache.objects().begin();
  Status readable;
  const auto object_at = [&next, &readable](std::size_t) -> std::optional<store::CachedObject> {
    const auto& [key, object] = *next++;
    if (!object.bytes.is_in_memory()) return std::nullopt;  // Its row is there.
    auto made = to_row(key, object);
    if (made) return *std::move(made);
    readable = fail(made.error());
    return std::nullopt;
  };
  const RowVersion version = row_version_of(cache);
  auto replaced = file.replace_all(in, row, to_text(version), names, object_at);
  if (!replaced) return fail(replaced.error());
  if (!readable) return fail(readable.error());
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
      carried = carried || object->version == cache.version();
      if (!object->bytes.is_in_memory()) continue;  // Its row is there.
      TRY(store::CachedObject made, to_row(key, *object));
      changes.changed.push_back(std::move(made));
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
