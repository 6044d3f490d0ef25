// All writes to the registry go through the Editor, those of requests and of the built-in
// controllers. It applies the rules of agent/lab/rules (defaults, validation, deletion, admission)
// and then stores the object. Threading: the loop's thread only.

#pragma once

#include <boost/json/object.hpp>
#include <functional>
#include <string_view>

#include "agent/lab/apiserver/registry.h"
#include "agent/lab/rules/answer.h"
#include "agent/lab/rules/managed_fields.h"
#include "agent/lab/rules/strategy.h"
#include "platform/random.h"
#include "platform/time.h"

namespace holdfast::agent::lab {

struct Removed {
  StoredPtr last;     // the last state of the object, or the current one if it is not gone
  bool gone = false;  // false: marked for deletion, waits for a kubelet or a finalizer
};

// Who writes an object: its entry in managedFields.
struct Author {
  std::string manager = "holdfast-lab";  // the built-in controllers
  std::string api_version = {};          // of the request; "": the stored one
  std::string subresource = {};
  bool applies = false;  // the object has its managedFields already, see apply_configuration()
};

class Editor {
 public:
  // All references are borrowed and outlive it.
  Editor(Registry& registry, const Clock& clock, Random& random)
      : registry_(registry), clock_(clock), random_(random) {}

  // Stores a new object, decoded and in the stored version. With `dry_run` it is only returned.
  [[nodiscard]] Answer<StoredPtr> create(const sync::printing::Resource& resource,
                                         boost::json::object object, std::string_view name_space,
                                         bool dry_run = false, const Author& author = {});

  // Returns the new object for the old one.
  using Change = std::function<Answer<boost::json::object>(const boost::json::object& old)>;

  // Changes an object. An unchanged object is not written. If the object's deletion waited only for
  // this change, the object is removed.
  [[nodiscard]] Answer<StoredPtr> update(const sync::printing::Resource& resource,
                                         const Target& target, Part part, const Change& change,
                                         bool dry_run = false, const Author& author = {});

  // Deletes an object, or marks it for deletion if it has finalizers or a grace period.
  [[nodiscard]] Answer<Removed> remove(const sync::printing::Resource& resource,
                                       const Target& target, const DeleteOptions& options);

  // Replaces `old` by `object` without validation, for internal writes: a binding, the removal of a
  // namespace's last finalizer.
  [[nodiscard]] Answer<StoredPtr> replace(const sync::printing::Resource& resource,
                                          boost::json::object object, const StoredPtr& old);

  // Refuses a creation in a namespace that does not exist (404) or is being deleted (403, with the
  // cause NamespaceTerminating). `name` is the new object's name as the client gave it.
  [[nodiscard]] Answer<bool> check_namespace(const sync::printing::Resource& resource,
                                             std::string_view name,
                                             std::string_view name_space) const;

  [[nodiscard]] WallTime now() const { return clock_.wall(); }
  [[nodiscard]] Registry& registry() { return registry_; }

 private:
  [[nodiscard]] Answer<boost::json::object> admit(const sync::printing::Resource& resource,
                                                  boost::json::object object);
  void accept_definition(boost::json::object& crd) const;
  [[nodiscard]] Answer<bool> check_custom(const sync::printing::Resource& resource) const;
  void note_author(const sync::printing::Resource& resource, const boost::json::object& before,
                   boost::json::object& after, const Author& author) const;
  void orphan_dependents(const StoredPtr& owner);

  Registry& registry_;
  const Clock& clock_;
  Random& random_;
};

// The 404 for an object that does not exist.
[[nodiscard]] sync::wire::ApiStatus missing(const sync::printing::Resource& resource,
                                            std::string_view name);

}  // namespace holdfast::agent::lab
