// The edge's memory of upstream: scopes and their objects, in cache.db.
//
// A scope is one question (who asks, for which resource, selected how, in which encoding) and its
// objects are the answer, but only once the scope was complete: until then what is missing is
// unknown, not absent, and no list is given. Completeness is never taken back; a new answer
// replaces the old one in one transaction.
//
// Key columns and bytes are opaque here; bytes are kept packed where that makes them smaller. Rows
// that did not change are not written: flash wears.
// Threading: the Database's thread. Whoever writes brings the Transaction and commits it, so that
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
  std::string owner = {};  // the identity that fetched it, and the only one to be given it
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
  std::string resource_version = {};  // of the answer as a whole; empty: none yet
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

// What is known of one object. "Never looked" is not "not there".
enum class Knowledge : std::uint8_t { unknown_scope, incomplete, absent, found };

struct Lookup {
  Knowledge knowledge = Knowledge::unknown_scope;
  std::optional<CachedObject> object = {};  // exactly when found

  bool operator==(const Lookup&) const = default;
};

// Which part of a scope to read, in the order of namespace and name.
struct Window {
  std::string namespace_name = {};  // empty: all
  ObjectName after = {};            // only objects after this one
  std::size_t limit = 0;            // 0: no limit
};

struct ScopeChanges {
  std::vector<ObjectName> removed = {};    // those that are not there do no harm
  std::vector<CachedObject> changed = {};  // after `removed`
  std::string resource_version = {};       // of the scope from now on; empty: as it was
};

// How many rows a replacement touched.
struct Replaced {
  std::size_t written = 0;
  std::size_t kept = 0;  // same bytes, versions and uid; their local_version stays too
  std::size_t removed = 0;

  bool operator==(const Replaced&) const = default;
};

struct CacheSize {
  std::int64_t objects = 0;
  std::int64_t bytes = 0;  // of the objects' bytes, unpacked

  bool operator==(const CacheSize&) const = default;
};

// How cache.db is opened. A power cut may take the last commits: all of it can be fetched again.
// What must survive is committed with Database::begin(Durability::full).
inline constexpr Durability cache_durability = Durability::relaxed;
// Each commit writes whole pages, most of them for a few bytes: small ones spare the flash. The log
// is emptied at 2 MiB, as each time costs a block of the flash for every few pages that changed.
// A file that exists keeps its pages' size.
[[nodiscard]] inline DatabaseOptions cache_options() {
  return {.durability = cache_durability, .page_bytes = 512, .log_pages = 4000};
}

class Cache {
 public:
  // `database` was migrated to cache_schema() and outlives the Cache, as does the seal. Objects
  // that are sealed and cannot be opened, or are plain and should be sealed, are an error of those
  // who read them: denied.
  explicit Cache(Database& database, Sealing sealing = {});

  [[nodiscard]] Result<std::optional<Scope>> find_scope(const ScopeKey& key);

  // The scope of `key`, made (incomplete) when there is none.
  [[nodiscard]] Result<Scope> open_scope(const Transaction& in, const ScopeKey& key, WallTime now);

  // In the order in which they were made.
  [[nodiscard]] Result<std::vector<Scope>> scopes();

  // Remembers that the scope was used; written only when that is news by a day:
  // flash wears.
  [[nodiscard]] Status touch(const Transaction& in, ScopeId scope, WallTime now);

  // Makes `objects` the scope's whole content and the scope complete. Errors: not_found (scope).
  [[nodiscard]] Result<Replaced> replace_all(const Transaction& in, ScopeId scope,
                                             std::string_view resource_version,
                                             const std::vector<CachedObject>& objects);
  // The same for objects that are made one at a time, so that a large scope is not held twice:
  // `object_at(i)` is called once for each of `names`, in their order.
  using ObjectAt = std::function<CachedObject(std::size_t index)>;
  [[nodiscard]] Result<Replaced> replace_all(const Transaction& in, ScopeId scope,
                                             std::string_view resource_version,
                                             const std::vector<ObjectName>& names,
                                             const ObjectAt& object_at);

  // Errors: not_found (scope).
  [[nodiscard]] Status apply(const Transaction& in, ScopeId scope, const ScopeChanges& changes);

  // Forgets the scope and its objects.
  [[nodiscard]] Status drop_scope(const Transaction& in, ScopeId scope);

  // One object. Errors: corrupt, when its bytes fail their checksum.
  [[nodiscard]] Result<Lookup> lookup(ScopeId scope, const ObjectName& name);
  [[nodiscard]] Result<Lookup> lookup(const ScopeKey& key, const ObjectName& name);

  // The objects of a complete scope. Errors: unavailable while the scope is unknown or was never
  // complete, so that this can't be taken for an empty answer; corrupt.
  [[nodiscard]] Result<std::vector<CachedObject>> list(ScopeId scope, const Window& window = {});

  // The same without keeping them all in memory; ends early with the visitor's error. The visitor
  // must not use the Cache.
  using Visitor = std::function<Status(CachedObject)>;
  [[nodiscard]] Status visit(ScopeId scope, const Window& window, const Visitor& visitor);

  [[nodiscard]] Result<CacheSize> size(ScopeId scope);
  [[nodiscard]] Result<CacheSize> size();

 private:
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
  Statement find_scope_, get_scope_, add_scope_, all_scopes_, touch_scope_, set_version_;
  Statement set_complete_, drop_scope_, drop_objects_;
  Statement put_object_, remove_object_, get_object_, names_, window_, namespace_window_;
  Statement scope_size_, whole_size_;
};

}  // namespace holdfast::store
