#include "store/cache.h"

#include <algorithm>
#include <array>

#include "embedded/cache_migrations.h"
#include "store/checksum.h"
#include "store/pack.h"

namespace holdfast::store {
namespace {

const std::string select_scope =
    "SELECT id, owner, api_group, api_version, resource, namespace, label_selector,"
    " field_selector, encoding, resource_version, complete, last_used_wall FROM scope";

const std::string select_object =
    "SELECT namespace, name, uid, resource_version, local_version, checksum, bytes, sealed, packed"
    " FROM object";

// The unpacked size of rows.
const std::string select_sizes =
    "SELECT count(*), coalesce(sum(iif(packed > 0, packed, length(bytes))), 0) FROM object";

std::int64_t number(ScopeId scope) { return static_cast<std::int64_t>(scope); }

std::int64_t nanoseconds(WallTime time) { return time.time_since_epoch().count(); }

// A row of select_scope.
Scope read_scope(const Cursor& row) {
  return {.id = ScopeId{row.integer(0)},
          .key = {.owner = std::string(row.text(1)),
                  .group = std::string(row.text(2)),
                  .version = std::string(row.text(3)),
                  .resource = std::string(row.text(4)),
                  .namespace_name = std::string(row.text(5)),
                  .label_selector = std::string(row.text(6)),
                  .field_selector = std::string(row.text(7)),
                  .encoding = std::string(row.text(8))},
          .resource_version = std::string(row.text(9)),
          .complete = row.integer(10) != 0,
          .last_used = WallTime(Duration(row.integer(11)))};
}

// The key columns are included: a damaged name would hide an object. `bytes` are the stored bytes.
std::int64_t checksum_of(const CachedObject& object, std::string_view bytes, std::int64_t packed) {
  return checksum(
      {object.name.namespace_name, object.name.name, object.uid, object.resource_version, bytes},
      packed);
}

std::string seal_name(const ScopeKey& scope, const CachedObject& object, std::int64_t packed) {
  return object_seal_name(scope, {object.name.namespace_name, object.name.name, object.uid,
                                  object.resource_version, packed});
}

std::int64_t sql_limit(std::size_t limit) {
  return limit == 0 ? -1 : static_cast<std::int64_t>(limit);
}

}  // namespace

const Schema& cache_schema() {
  static constexpr std::array migrations = {Migration{.compatible_from = 1,
                                                      .up = embedded::_0001_cache_up_sql,
                                                      .down = embedded::_0001_cache_down_sql},
                                            Migration{.compatible_from = 2,
                                                      .up = embedded::_0002_sealed_up_sql,
                                                      .down = embedded::_0002_sealed_down_sql},
                                            Migration{.compatible_from = 3,
                                                      .up = embedded::_0003_sealing_up_sql,
                                                      .down = embedded::_0003_sealing_down_sql},
                                            Migration{.compatible_from = 4,
                                                      .up = embedded::_0004_packed_up_sql,
                                                      .down = embedded::_0004_packed_down_sql}};
  static constexpr Schema schema{"cache", migrations};
  return schema;
}

Cache::Cache(Database& database, Sealing sealing)
    : database_(database),
      sealing_(std::move(sealing)),
      find_scope_(database.prepare(
          select_scope +
          " WHERE owner = ?1 AND api_group = ?2"
          " AND api_version = ?3 AND resource = ?4 AND namespace = ?5 AND label_selector = ?6"
          " AND field_selector = ?7 AND encoding = ?8")),
      get_scope_(database.prepare(select_scope + " WHERE id = ?1")),
      add_scope_(database.prepare(
          "INSERT INTO scope (owner, api_group, api_version, resource, namespace, label_selector,"
          " field_selector, encoding, resource_version, complete, last_used_wall)"
          " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, '', 0, ?9)")),
      all_scopes_(database.prepare(select_scope + " WHERE owner <> ?1 ORDER BY id")),
      touch_scope_(
          database.prepare("UPDATE scope SET last_used_wall = ?2"
                           " WHERE id = ?1 AND abs(?2 - last_used_wall) >= 86400 * 1000000000")),
      set_version_(database.prepare(
          "UPDATE scope SET resource_version = ?2 WHERE id = ?1 AND resource_version <> ?2")),
      set_complete_(database.prepare("UPDATE scope SET complete = 1 WHERE id = ?1"
                                     " AND complete = 0")),
      drop_scope_(database.prepare("DELETE FROM scope WHERE id = ?1")),
      drop_objects_(database.prepare("DELETE FROM object WHERE scope = ?1")),
      adopt_(database.prepare("UPDATE OR REPLACE object SET scope = ?1 WHERE scope = ?2")),
      rename_(database.prepare(
          "UPDATE scope SET owner = ?2, api_group = ?3, api_version = ?4, resource = ?5,"
          " namespace = ?6, label_selector = ?7, field_selector = ?8, encoding = ?9,"
          " resource_version = ?10, last_used_wall = ?11 WHERE id = ?1")),
      drop_part_objects_(database.prepare(
          "DELETE FROM object WHERE scope IN (SELECT id FROM scope WHERE owner = ?1)")),
      drop_parts_(database.prepare("DELETE FROM scope WHERE owner = ?1")),
      put_object_(database.prepare(
          "INSERT INTO object (scope, namespace, name, uid, resource_version, local_version,"
          " checksum, bytes, sealed, packed) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"
          " ON CONFLICT (scope, namespace, name) DO UPDATE SET uid = ?4, resource_version = ?5,"
          " local_version = ?6, checksum = ?7, bytes = ?8, sealed = ?9, packed = ?10"
          " WHERE bytes <> ?8 OR resource_version <> ?5 OR uid <> ?4 OR sealed <> ?9"
          " OR packed <> ?10")),
      remove_object_(
          database.prepare("DELETE FROM object WHERE scope = ?1 AND namespace = ?2 AND name = ?3")),
      names_(database.prepare(
          "SELECT namespace, name FROM object WHERE scope = ?1 ORDER BY namespace, name")),
      window_(database.prepare(select_object + " WHERE scope = ?1 AND (namespace, name) > (?2, ?3)"
                                               " ORDER BY namespace, name LIMIT ?4")),
      namespace_window_(database.prepare(select_object + " WHERE scope = ?1 AND namespace = ?2"
                                                         " AND name > ?3 ORDER BY name LIMIT ?4")),
      find_object_(
          database.prepare(select_object + " WHERE scope = ?1 AND namespace = ?2 AND name = ?3")),
      scope_size_(database.prepare(select_sizes + " WHERE scope = ?1")),
      whole_size_(database.prepare(select_sizes)) {}

// --------------------------------------------------------------------------------------- scopes

Result<std::optional<Scope>> Cache::find_scope(const ScopeKey& key) {
  Cursor row = find_scope_.use(key.owner, key.group, key.version, key.resource, key.namespace_name,
                               key.label_selector, key.field_selector, key.encoding);
  TRY(const bool found, row.next());
  if (!found) return std::nullopt;
  return read_scope(row);
}

Result<std::optional<Scope>> Cache::find_scope(ScopeId scope) {
  Cursor row = get_scope_.use(number(scope));
  TRY(const bool found, row.next());
  if (!found) return std::nullopt;
  return read_scope(row);
}

Result<Scope> Cache::open_scope(const Transaction&, const ScopeKey& key, WallTime now) {
  TRY(std::optional<Scope> known, find_scope(key));
  if (known) return *std::move(known);
  auto added = add_scope_
                   .use(key.owner, key.group, key.version, key.resource, key.namespace_name,
                        key.label_selector, key.field_selector, key.encoding, nanoseconds(now))
                   .run();
  if (!added) return fail(added.error());
  return Scope{.id = ScopeId{database_.last_insert_id()},
               .key = key,
               .resource_version = {},
               .complete = false,
               .last_used = now};
}

Result<std::vector<Scope>> Cache::scopes() {
  std::vector<Scope> found;
  Cursor row = all_scopes_.use(part_owner);
  for (;;) {
    TRY(const bool more, row.next());
    if (!more) return found;
    found.push_back(read_scope(row));
  }
}

Status Cache::touch(const Transaction&, ScopeId scope, WallTime now) {
  return touch_scope_.use(number(scope), nanoseconds(now)).run();
}

bool Cache::seals(const ScopeKey& scope) const {
  return sealing_.seal != nullptr && sealing_.objects_of && sealing_.objects_of(scope);
}

Result<ScopeKey> Cache::must_exist(ScopeId scope) {
  TRY(auto known, find_scope(scope));
  if (known) return std::move(known->key);
  return fail(Errc::not_found, "cache scope " + std::to_string(number(scope)));
}

Status Cache::drop_scope(const Transaction&, ScopeId scope) {
  if (auto done = drop_objects_.use(number(scope)).run(); !done) return done;
  return drop_scope_.use(number(scope)).run();
}

// -------------------------------------------------------------------------------------- writing

Result<bool> Cache::put(ScopeId scope, const ScopeKey& key, const CachedObject& object) {
  const Packed packed = pack(object.bytes, PackStep::coarse);
  const std::int64_t plain_size = packed.plain_size;
  const std::string_view kept = plain_size > 0 ? packed.bytes : object.bytes;
  const bool sealed = seals(key);
  std::string secret;
  if (sealed) secret = sealing_.seal->seal(kept, seal_name(key, object, plain_size));
  const std::string_view bytes = sealed ? secret : kept;
  const std::int64_t mark = sealed ? 1 : 0;
  auto done = put_object_
                  .use(number(scope), object.name.namespace_name, object.name.name, object.uid,
                       object.resource_version, object.local_version,
                       checksum_of(object, bytes, plain_size), Blob{bytes}, mark, plain_size)
                  .run();
  if (!done) return fail(done.error());
  return database_.changes() > 0;
}

Status Cache::remove(ScopeId scope, const ObjectName& name) {
  return remove_object_.use(number(scope), name.namespace_name, name.name).run();
}

// The names of the scope's rows that are not in `names`.
Result<std::vector<ObjectName>> Cache::missing_from(ScopeId scope, std::vector<ObjectName> names) {
  std::sort(names.begin(), names.end());
  std::vector<ObjectName> missing;
  Cursor row = names_.use(number(scope));
  for (;;) {
    TRY(const bool more, row.next());
    if (!more) return missing;
    ObjectName name{std::string(row.text(0)), std::string(row.text(1))};
    if (std::binary_search(names.begin(), names.end(), name)) continue;
    missing.push_back(std::move(name));
  }
}

Result<Replaced> Cache::replace_all(const Transaction& in, ScopeId scope,
                                    std::string_view resource_version,
                                    const std::vector<CachedObject>& objects) {
  std::vector<ObjectName> names;
  names.reserve(objects.size());
  for (const CachedObject& object : objects) names.push_back(object.name);
  const auto object_at = [&objects](std::size_t index) { return objects.at(index); };
  return replace_all(in, scope, resource_version, names, object_at);
}

Result<Replaced> Cache::replace_all(const Transaction&, ScopeId scope,
                                    std::string_view resource_version,
                                    const std::vector<ObjectName>& names,
                                    const ObjectAt& object_at) {
  TRY(const ScopeKey key, must_exist(scope));
  Replaced replaced;
  TRY(const std::vector<ObjectName> missing, missing_from(scope, names));
  for (const ObjectName& name : missing) {
    if (auto done = remove(scope, name); !done) return fail(done.error());
    ++replaced.removed;
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::optional<CachedObject> object = object_at(i);
    bool written = false;
    if (object) {
      TRY(written, put(scope, key, *object));
    }
    ++(written ? replaced.written : replaced.kept);
  }
  if (auto done = set_version_.use(number(scope), resource_version).run(); !done) {
    return fail(done.error());
  }
  if (auto done = set_complete_.use(number(scope)).run(); !done) return fail(done.error());
  return replaced;
}

Status Cache::apply(const Transaction&, ScopeId scope, const ScopeChanges& changes) {
  TRY(const ScopeKey key, must_exist(scope));
  for (const ObjectName& name : changes.removed) {
    if (auto done = remove(scope, name); !done) return done;
  }
  for (const CachedObject& object : changes.changed) {
    TRY([[maybe_unused]] const bool written, put(scope, key, object));
  }
  if (changes.resource_version.empty()) return {};
  return set_version_.use(number(scope), changes.resource_version).run();
}

// -------------------------------------------------------------------------------------- reading

// A row of select_object.
Result<CachedObject> Cache::read_object(const ScopeKey& scope, const Cursor& row) const {
  CachedObject object{.name = {std::string(row.text(0)), std::string(row.text(1))},
                      .uid = std::string(row.text(2)),
                      .resource_version = std::string(row.text(3)),
                      .local_version = row.integer(4)};
  const std::string_view bytes = row.blob(6);
  const std::int64_t packed = row.integer(8);
  const auto named = [&object] {
    return "cached object " + object.name.namespace_name + "/" + object.name.name;
  };
  if (checksum_of(object, bytes, packed) != row.integer(5)) {
    return fail(Errc::corrupt, named() + " fails its checksum");
  }
  const bool sealed = row.integer(7) != 0;
  if (!sealed && seals(scope)) return fail(named(), not_sealed().value());
  auto plain = sealed ? open_sealed(sealing_.seal, bytes, seal_name(scope, object, packed))
                      : Result<std::string>();
  if (plain && packed != 0) plain = unpack(sealed ? *plain : bytes, packed);
  if (!plain) return fail(named(), plain.error());
  object.bytes = sealed || packed != 0 ? *std::move(plain) : std::string(bytes);
  return object;
}

Status Cache::visit(ScopeId id, const Window& window, const Visitor& visitor) {
  TRY(const std::optional<Scope> scope, find_scope(id));
  if (!scope) return fail(Errc::unavailable, "the cache does not know this scope");
  if (!scope->complete) return fail(Errc::unavailable, "the scope was never completely received");
  const ObjectName start = std::max(window.after, ObjectName{window.namespace_name, ""});
  const bool everywhere = window.namespace_name.empty();
  if (!everywhere && start.namespace_name != window.namespace_name) return {};
  Statement& statement = everywhere ? window_ : namespace_window_;
  Cursor row = statement.use(number(id), start.namespace_name, start.name, sql_limit(window.limit));
  for (;;) {
    TRY(const bool more, row.next());
    if (!more) return {};
    TRY(CachedObject object, read_object(scope->key, row));
    if (auto done = visitor(std::move(object)); !done) return done;
  }
}

Result<std::vector<CachedObject>> Cache::list(ScopeId scope, const Window& window) {
  std::vector<CachedObject> objects;
  const auto keep = [&objects](CachedObject object) -> Status {
    objects.push_back(std::move(object));
    return {};
  };
  if (auto done = visit(scope, window, keep); !done) return fail(done.error());
  return objects;
}

Result<std::optional<CachedObject>> Cache::find(const ScopeKey& key, ScopeId scope,
                                                const ObjectName& name) {
  Cursor row = find_object_.use(number(scope), name.namespace_name, name.name);
  TRY(const bool found, row.next());
  if (!found) return std::nullopt;
  TRY(CachedObject object, read_object(key, row));
  return object;
}

Result<CacheSize> Cache::size(ScopeId scope) {
  Cursor row = scope_size_.use(number(scope));
  TRY([[maybe_unused]] const bool found, row.next());
  return CacheSize{row.integer(0), row.integer(1)};
}

Result<CacheSize> Cache::size() {
  Cursor row = whole_size_.use();
  TRY([[maybe_unused]] const bool found, row.next());
  return CacheSize{row.integer(0), row.integer(1)};
}

}  // namespace holdfast::store
