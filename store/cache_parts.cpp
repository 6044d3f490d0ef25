// The parts of Cache: lists that are written while they arrive.

#include "store/cache.h"

namespace holdfast::store {
namespace {

std::int64_t row_id(ScopeId scope) { return static_cast<std::int64_t>(scope); }

}  // namespace

Result<ScopeId> Cache::begin_part(const Transaction&, ScopeId scope, WallTime now) {
  TRY([[maybe_unused]] const ScopeKey key, must_exist(scope));
  // Several parts of a scope may exist: one that arrives, and one that could not be adopted yet.
  const std::string name = std::to_string(row_id(scope)) + "/" + std::to_string(++parts_);
  auto added =
      add_scope_.use(part_owner, "", "", name, "", "", "", "", now.time_since_epoch().count())
          .run();
  if (!added) return fail(added.error());
  return ScopeId{database_.last_insert_id()};
}

Status Cache::put_part(const Transaction&, ScopeId scope, ScopeId part, std::size_t count,
                       const ObjectAt& object_at) {
  // Sealed as objects of the scope, which they become.
  TRY(const ScopeKey key, must_exist(scope));
  if (auto known = must_exist(part); !known) return fail(known.error());
  for (std::size_t i = 0; i < count; ++i) {
    const std::optional<CachedObject> object = object_at(i);
    if (!object) continue;
    TRY([[maybe_unused]] const bool written, put(part, key, *object));
  }
  return {};
}

Result<ScopeId> Cache::adopt_part(const Transaction& in, ScopeId scope, ScopeId part) {
  TRY(const std::optional<Scope> known, find_scope(scope));
  if (!known) return fail(Errc::not_found, "cache scope " + std::to_string(row_id(scope)));
  if (auto found = must_exist(part); !found) return fail(found.error());
  TRY(const CacheSize old_size, size(scope));
  TRY(const CacheSize new_size, size(part));
  // Moving a row writes it again, so the fewer rows are moved.
  if (known->complete && new_size.objects <= old_size.objects / 2) {
    if (auto done = adopt_.use(row_id(scope), row_id(part)).run(); !done) return fail(done.error());
    if (auto done = drop_scope_.use(row_id(part)).run(); !done) return fail(done.error());
    return scope;
  }
  if (known->complete) {
    auto moved = database_.prepare("UPDATE OR IGNORE object SET scope = ?1 WHERE scope = ?2")
                     .use(row_id(part), row_id(scope))
                     .run();
    if (!moved) return fail(moved.error());
  }
  if (auto dropped = drop_scope(in, scope); !dropped) return fail(dropped.error());
  const ScopeKey& key = known->key;
  auto renamed = rename_
                     .use(row_id(part), key.owner, key.group, key.version, key.resource,
                          key.namespace_name, key.label_selector, key.field_selector, key.encoding,
                          known->resource_version, known->last_used.time_since_epoch().count())
                     .run();
  if (!renamed) return fail(renamed.error());
  if (auto done = set_complete_.use(row_id(part)).run(); !done) return fail(done.error());
  return part;
}

Status Cache::drop_parts(const Transaction&) {
  if (auto done = drop_part_objects_.use(part_owner).run(); !done) return done;
  return drop_parts_.use(part_owner).run();
}

}  // namespace holdfast::store
