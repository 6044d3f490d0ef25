// metadata.managedFields: who set which fields of an object, and server-side apply.
//
// The rules are those of upstream's structured-merge-diff: an update takes the ownership of what it
// changes, an apply is refused if it changes what another manager owns, and removes what its
// manager owned and no longer sets.

#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "agent/lab/rules/answer.h"
#include "agent/lab/rules/field_set.h"
#include "agent/lab/rules/merge_type.h"
#include "platform/time.h"

namespace holdfast::agent::lab {

struct ManagedLimits {
  std::size_t updaters_max = 10;    // more are united as "ancient-changes"
  std::size_t manager_bytes = 128;  // of a manager's name
};

struct ManagedEntry {
  std::string manager;
  std::string operation;  // "Apply" or "Update"
  std::string api_version;
  std::string time;  // RFC 3339, or ""
  std::string subresource;
  FieldSet fields;

  [[nodiscard]] bool same_manager(const ManagedEntry& other) const;
};
using ManagedEntries = std::vector<ManagedEntry>;

// Who writes an object, and when.
struct FieldManager {
  std::string name;
  std::string api_version;  // of the request
  std::string subresource = {};
  WallTime now = {};
};

// Reads and replaces metadata.managedFields.
[[nodiscard]] ManagedEntries managed_entries(const boost::json::object& object);
void set_managed_entries(boost::json::object& object, ManagedEntries entries);

// Records in `after` what an update changed. `before` is the stored object, for a new object its
// zero value. If the client reset the managed fields ([{}]), there are none afterwards; for a
// stored object that has none none are recorded until somebody applies it. (kube-apiserver then
// records also what was there before, as "before-first-apply".)
void note_update(const boost::json::object& before, boost::json::object& after,
                 const MergeType& type, const FieldManager& manager);

// Applies a configuration to `live`, which for a new object is its zero value. `spared` are fields
// that this request cannot set: the status, or everything else.
// Errors: 409 with a cause for each conflict, unless `force`; what fields_of() refuses.
[[nodiscard]] Answer<boost::json::object> apply_configuration(const boost::json::object& live,
                                                              boost::json::object configuration,
                                                              const MergeType& type,
                                                              const FieldManager& manager,
                                                              const FieldSet& spared, bool force);

// Whether the objects differ at most in the times of managedFields.
[[nodiscard]] bool same_but_times(const boost::json::object& left,
                                  const boost::json::object& right);

// "/v1, Kind=Pod" and "apps/v1, Kind=Deployment".
[[nodiscard]] std::string printed_kind(const boost::json::object& object);

// The name of the manager of a request: its fieldManager, or the User-Agent up to "/".
// Errors: 422 for a name that is too long or has control characters, or if an apply has none.
// `forces`: the request has force=true, which only an apply may have.
[[nodiscard]] Answer<std::string> read_field_manager(std::string_view field_manager,
                                                     std::string_view user_agent, bool is_apply,
                                                     bool forces = false);

}  // namespace holdfast::agent::lab
