// Every write to the registry: rules from sync/apiserver, then the store. Requests and the built-in
// loops write through it alike.

#pragma once

#include <boost/json/object.hpp>
#include <functional>
#include <string_view>

#include "agent/lab/apiserver/registry.h"
#include "platform/random.h"
#include "platform/time.h"
#include "sync/apiserver/answer.h"
#include "sync/apiserver/strategy.h"

namespace holdfast::agent::lab {

struct Removed {
  StoredPtr last;     // what the object was at the end, or is now
  bool gone = false;  // false: it is on its way, waiting for a node or a finalizer
};

class Editor {
 public:
  Editor(Registry& registry, const Clock& clock, Random& random)
      : registry_(registry), clock_(clock), random_(random) {}

  // Stores a new object (decoded, of the stored version). With `dry_run` nothing is stored and the
  // answer is not in the registry.
  [[nodiscard]] sync::Answer<StoredPtr> create(const sync::Resource& resource,
                                               boost::json::object object,
                                               std::string_view name_space, bool dry_run = false);

  // Makes the new object of the old one.
  using Change = std::function<sync::Answer<boost::json::object>(const boost::json::object& old)>;

  // Changes an object; one that is not changed is not written. An object whose deletion only waited
  // for this change is removed.
  [[nodiscard]] sync::Answer<StoredPtr> update(const sync::Resource& resource,
                                               const sync::Target& target, sync::Part part,
                                               const Change& change, bool dry_run = false);

  [[nodiscard]] sync::Answer<Removed> remove(const sync::Resource& resource,
                                             const sync::Target& target,
                                             const sync::DeleteOptions& options);

  // Stores `object` as it is in the place of `old`, for writes that no rule stands in the way of: a
  // binding, a namespace's last finalizer.
  [[nodiscard]] sync::Answer<StoredPtr> replace(const sync::Resource& resource,
                                                boost::json::object object, const StoredPtr& old);

  // Refuses what creates something in a namespace that is not there (404) or that is being deleted
  // (403, with the cause NamespaceTerminating). `name` is the new object's, as the client gave it.
  [[nodiscard]] sync::Answer<bool> check_namespace(const sync::Resource& resource,
                                                   std::string_view name,
                                                   std::string_view name_space) const;

  [[nodiscard]] WallTime now() const { return clock_.wall(); }
  [[nodiscard]] Registry& registry() { return registry_; }

 private:
  [[nodiscard]] sync::Answer<boost::json::object> admit(const sync::Resource& resource,
                                                        boost::json::object object);
  void orphan_dependents(const StoredPtr& owner);

  Registry& registry_;
  const Clock& clock_;
  Random& random_;
};

// 404 of a name.
[[nodiscard]] sync::ApiStatus missing(const sync::Resource& resource, std::string_view name);

}  // namespace holdfast::agent::lab
