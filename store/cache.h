// The edge agent's cache of upstream: scopes and their objects, in cache.db.
//
// A scope is one query (owner, resource, selectors, encoding), and its objects are the response. A
// scope cannot be listed until it was received completely: before that, a missing object is
// unknown, not absent. A scope stays complete once it was; a new list replaces the old one in one
// transaction.
//
// Key columns and bytes are opaque here. Bytes are stored packed if that makes them smaller.
// Unchanged rows are not written, because flash wears out.
// Threading: the Database's thread. The caller provides the Transaction and commits it, so that
// updates of many scopes can share one.

#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/result.h"
#include "platform/time.h"
#include "store/migrate.h"
#include "store/seal.h"
#include "store/sqlite.h"

namespace holdfast::store {

[[nodiscard]] const Schema& cache_schema();

struct ScopeKey {
  std::string owner = {};  // the identity that fetched it; only this identity may read it
  std::string group = {};
  std::string version = {};
  std::string resource = {};
  std::string namespace_name = {};
  std::string label_selector = {};
  std::string field_selector = {};
  std::string encoding = {};

  auto operator<=>(const ScopeKey&) const = default;
};

enum class ScopeId : std::int64_t {};

struct Scope {
  ScopeId id{};
  ScopeKey key = {};
  std::string resource_version = {};  // of the list as a whole; empty: none yet
  bool complete = false;
  WallTime last_used{};

  bool operator==(const Scope&) const = default;
};

struct ObjectName {
  std::string namespace_name = {};
  std::string name = {};

  auto operator<=>(const ObjectName&) const = default;
};

struct CachedObject {
  ObjectName name = {};
  std::string uid = {};
  std::string resource_version = {};
  std::int64_t local_version = 0;
  std::string bytes = {};

  bool operator==(const CachedObject&) const = default;
};

// The part of a scope to read, in the order of namespace and name.
struct Window {
  std::string namespace_name = {};  // empty: all
  ObjectName after = {};            // only objects after this one
  std::size_t limit = 0;            // 0: no limit
};

struct ScopeChanges {
  std::vector<ObjectName> removed = {};    // names that do not exist are ignored
  std::vector<CachedObject> changed = {};  // applied after `removed`
  std::string resource_version = {};       // of the scope from now on; empty: unchanged
};

// How many rows a replacement affected.
struct Replaced {
  std::size_t written = 0;
  std::size_t kept = 0;  // unchanged bytes, version and uid; local_version is unchanged, too
  std::size_t removed = 0;

  bool operator==(const Replaced&) const = default;
};

struct CacheSize {
  std::int64_t objects = 0;
  std::int64_t bytes = 0;  // of the objects, unpacked

  bool operator==(const CacheSize&) const = default;
};

// The durability of cache.db. A power cut may lose the last commits: their content can be fetched
// again. Commits that must survive use Database::begin(Durability::full).
inline constexpr Durability cache_durability = Durability::relaxed;
// The options of cache.db. Each commit writes whole pages, most of them for a few bytes, so small
// pages save flash. The log is checkpointed at 2 MiB, because each checkpoint costs a block of
// flash for every few changed pages. An existing file keeps its page size.
[[nodiscard]] inline DatabaseOptions cache_options() {
  return {.durability = cache_durability, .page_bytes = 512, .log_pages = 4000};
}

class Cache {
 public:
  // `database` must have been migrated to cache_schema(); it and the seal must outlive the Cache.
  // Reading an object that is sealed and cannot be opened, or that is plain and should be sealed,
  // fails with `denied`.
  explicit Cache(Database& database, Sealing sealing = {});

  [[nodiscard]] Result<std::optional<Scope>> find_scope(const ScopeKey& key);

  // The scope of `key`, which is created (incomplete) if it does not exist.
  [[nodiscard]] Result<Scope> open_scope(const Transaction& in, const ScopeKey& key, WallTime now);

  // All scopes, in the order of their creation.
  [[nodiscard]] Result<std::vector<Scope>> scopes();

  // Records that the scope was used. To save flash, it is written only if the recorded time differs
  // by a day or more.
  [[nodiscard]] Status touch(const Transaction& in, ScopeId scope, WallTime now);

  // Replaces the scope's content by `objects` and marks it complete. Errors: not_found (scope).
  [[nodiscard]] Result<Replaced> replace_all(const Transaction& in, ScopeId scope,
                                             std::string_view resource_version,
                                             const std::vector<CachedObject>& objects);
  // The same for objects that are created one at a time, so that a large scope is not held in
  // memory twice: `object_at(i)` is called once for each of `names`, in their order. Nothing: the
  // row of that name stays as it is.
  using ObjectAt = std::function<std::optional<CachedObject>(std::size_t index)>;
  [[nodiscard]] Result<Replaced> replace_all(const Transaction& in, ScopeId scope,
                                             std::string_view resource_version,
                                             const std::vector<ObjectName>& names,
                                             const ObjectAt& object_at);

  // Applies changes to a scope. Errors: not_found (scope).
  [[nodiscard]] Status apply(const Transaction& in, ScopeId scope, const ScopeChanges& changes);

  // Deletes the scope and its objects.
  [[nodiscard]] Status drop_scope(const Transaction& in, ScopeId scope);

  // A list that does not fit into memory is written while it arrives: into a part of its own, so
  // that the scope stays as it was until the list is complete. scopes() does not show parts.
  // begin_part() begins one for `scope`, and put_part() writes objects into it. adopt_part() makes
  // them objects of the scope, in place of those of the same names. The scope is complete then, and
  // has the id that is returned: the part becomes the scope if fewer rows are written again so.
  // Errors of all: not_found (the scope or the part).
  [[nodiscard]] Result<ScopeId> begin_part(const Transaction& in, ScopeId scope, WallTime now);
  // `object_at` is called once for each index below `count`, in order.
  [[nodiscard]] Status put_part(const Transaction& in, ScopeId scope, ScopeId part,
                                std::size_t count, const ObjectAt& object_at);
  [[nodiscard]] Result<ScopeId> adopt_part(const Transaction& in, ScopeId scope, ScopeId part);
  // Deletes all parts: those that a crash has left.
  [[nodiscard]] Status drop_parts(const Transaction& in);

  // The objects of a complete scope. Errors: unavailable if the scope does not exist or was never
  // complete, so that this is not mistaken for an empty list; corrupt (bytes fail their checksum);
  // denied.
  [[nodiscard]] Result<std::vector<CachedObject>> list(ScopeId scope, const Window& window = {});

  // Like list(), but calls `visitor` for each object instead of holding all in memory, and stops
  // with the visitor's error. The visitor must not use the Cache.
  using Visitor = std::function<Status(CachedObject)>;
  [[nodiscard]] Status visit(ScopeId scope, const Window& window, const Visitor& visitor);

  // One object of a scope or a part, which may be incomplete; nothing if there is none of that
  // name. `key` is that of the scope. Errors: corrupt, denied.
  [[nodiscard]] Result<std::optional<CachedObject>> find(const ScopeKey& key, ScopeId scope,
                                                         const ObjectName& name);

  [[nodiscard]] Result<CacheSize> size(ScopeId scope);
  [[nodiscard]] Result<CacheSize> size();

 private:
  // The owner of parts, which no identity has.
  static constexpr std::string_view part_owner = "/part";

  [[nodiscard]] Result<std::optional<Scope>> find_scope(ScopeId scope);
  [[nodiscard]] bool seals(const ScopeKey& scope) const;
  // Errors: not_found.
  [[nodiscard]] Result<ScopeKey> must_exist(ScopeId scope);
  [[nodiscard]] Result<bool> put(ScopeId scope, const ScopeKey& key, const CachedObject& object);
  [[nodiscard]] Result<CachedObject> read_object(const ScopeKey& scope, const Cursor& row) const;
  [[nodiscard]] Status remove(ScopeId scope, const ObjectName& name);
  [[nodiscard]] Result<std::vector<ObjectName>> missing_from(ScopeId scope,
                                                             std::vector<ObjectName> names);

  Database& database_;
  Sealing sealing_;
  std::uint64_t parts_ = 0;  // begun since the file was opened, for their names
  Statement find_scope_, get_scope_, add_scope_, all_scopes_, touch_scope_, set_version_;
  Statement set_complete_, drop_scope_, drop_objects_, adopt_, rename_;
  Statement drop_part_objects_, drop_parts_;
  Statement put_object_, remove_object_, names_, window_, namespace_window_, find_object_;
  Statement scope_size_, whole_size_;
};

}  // namespace holdfast::store
