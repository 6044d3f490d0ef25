// All objects of the lab's API server, in memory and in store::Revisions (SQLite).
// An object's resourceVersion is the revision of its last write. Readers get shared values that
// never change; a write creates a new value. Listeners are called after the value is stored, in the
// order of revisions.
//
// Threading: the loop's thread only.

#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agent/lab/rules/catalog.h"
#include "platform/result.h"
#include "store/revisions.h"
#include "sync/printing/resources.h"

namespace holdfast::agent::lab {

struct Stored {
  std::string key;
  std::int64_t revision = 0;
  boost::json::object object;  // of the stored version, with kind and apiVersion
  std::string bytes;           // the same, serialized
};
using StoredPtr = std::shared_ptr<const Stored>;

// A copy of the object with another resourceVersion.
[[nodiscard]] StoredPtr stamped(const StoredPtr& stored, std::int64_t revision);

struct Change {
  std::int64_t revision = 0;
  StoredPtr now;     // null: deleted
  StoredPtr before;  // null: created

  // The object as a watcher sees it; for a deletion the last one, with the deletion's revision.
  StoredPtr seen;

  [[nodiscard]] const std::string& key() const { return seen->key; }
};
using ChangePtr = std::shared_ptr<const Change>;

struct RegistryLimits {
  std::size_t history = 5000;  // changes kept in memory; older ones are read from the store
  // A write that was answered survives a power cut. Without, the last ones may be lost in one, but
  // not by the end of the process.
  bool durable = false;
};

class Registry {
 public:
  // Opens or creates `file`. Errors: those of store::Revisions::open(); corrupt (a value is not a
  // JSON object).
  [[nodiscard]] static Result<std::unique_ptr<Registry>> open(const std::filesystem::path& file,
                                                              const RegistryLimits& limits = {});

  // "/registry/apps/deployments/ns/name". If the name, or namespace and name, are empty: the common
  // prefix of all keys.
  [[nodiscard]] static std::string key_of(const sync::printing::Resource& resource,
                                          std::string_view name_space, std::string_view name);

  // Null if the object does not exist.
  [[nodiscard]] StoredPtr find(const sync::printing::Resource& resource,
                               std::string_view name_space, std::string_view name) const;
  // The objects in the order of keys, of all namespaces if `name_space` is empty.
  [[nodiscard]] std::vector<StoredPtr> list(const sync::printing::Resource& resource,
                                            std::string_view name_space = {}) const;
  // The same as of an older revision. Errors: gone (compacted), invalid (in the future).
  [[nodiscard]] Result<std::vector<StoredPtr>> list_at(const sync::printing::Resource& resource,
                                                       std::string_view name_space,
                                                       std::int64_t revision);

  // Stores `object` in place of `replaced` (null: as a new object). Its name and namespace give the
  // key. Errors: conflict (the stored object is not `replaced`), unavailable.
  [[nodiscard]] Result<StoredPtr> put(const sync::printing::Resource& resource,
                                      boost::json::object object, const StoredPtr& replaced);
  // Errors: conflict, not_found, unavailable.
  [[nodiscard]] Status remove(const StoredPtr& stored);

  // The changes after `revision` of keys with `prefix`, oldest first. Errors: gone (compacted).
  [[nodiscard]] Result<std::vector<ChangePtr>> changes_since(std::string_view prefix,
                                                             std::int64_t revision);

  using Listener = std::function<void(const ChangePtr&)>;
  // `listener` is called for every change. It cannot be removed.
  void listen(Listener listener) { listeners_.push_back(std::move(listener)); }

  // All resources, with those of the stored CustomResourceDefinitions.
  [[nodiscard]] const Catalog& catalog() const { return catalog_; }

  [[nodiscard]] std::int64_t revision() const { return store_.current_revision(); }
  [[nodiscard]] std::int64_t compacted() const { return store_.compacted_revision(); }
  // Deletes the history up to `revision`. Errors: invalid, unavailable.
  [[nodiscard]] Status compact(std::int64_t revision);

  [[nodiscard]] const std::map<std::string, StoredPtr, std::less<>>& all() const {
    return objects_;
  }

 private:
  Registry(store::Revisions store, const RegistryLimits& limits)
      : store_(std::move(store)), limits_(limits) {}
  [[nodiscard]] Status load();
  void publish(ChangePtr change);
  void note_definition(const Stored* now, const Stored& seen);

  store::Revisions store_;
  RegistryLimits limits_;
  std::map<std::string, StoredPtr, std::less<>> objects_;
  Catalog catalog_;
  std::deque<ChangePtr> history_;
  std::int64_t history_floor_ = 0;  // history_ has every change after this revision
  std::vector<Listener> listeners_;
};

}  // namespace holdfast::agent::lab
