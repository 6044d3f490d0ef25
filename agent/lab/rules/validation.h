// Validates objects before they are stored, with upstream's error texts.
//
// Objects must have been shaped and have defaults. Only the checks that matter to clients of the
// lab are implemented; other invalid objects are stored, although upstream would refuse them.

#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "sync/printing/resources.h"
#include "sync/wire/field_error.h"

namespace holdfast::agent::lab {

// Validates a new or changed object by itself.
[[nodiscard]] sync::wire::FieldErrors validate(const sync::printing::Resource& resource,
                                               const boost::json::object& object);

// Also for a change: checks that immutable fields did not change.
[[nodiscard]] sync::wire::FieldErrors validate_update(const sync::printing::Resource& resource,
                                                      const boost::json::object& object,
                                                      const boost::json::object& old);

// Also for a changed status of a pod or node: checks what kube-apiserver refuses with 422, such as
// two addresses of one family, or a container that ended and runs again.
[[nodiscard]] sync::wire::FieldErrors validate_status_update(
    const sync::printing::Resource& resource, const boost::json::object& object,
    const boost::json::object& old);

// Parts of the validation, used by several files. `path` is the path of the checked field.
void check_pod_spec(sync::wire::FieldErrors& errors, const boost::json::object& spec,
                    const std::string& path);
void check_pod_update(sync::wire::FieldErrors& errors, const boost::json::object& pod,
                      const boost::json::object& old);
void check_workload(sync::wire::FieldErrors& errors, const sync::printing::Resource& resource,
                    const boost::json::object& object);
// spec.NAME must not be negative.
void check_not_negative(sync::wire::FieldErrors& errors, const boost::json::object& spec,
                        std::string_view name);
void check_job(sync::wire::FieldErrors& errors, const boost::json::object& job);
void check_job_update(sync::wire::FieldErrors& errors, const boost::json::object& job,
                      const boost::json::object& old);
// What check_workload() does not check.
void check_stateful_set(sync::wire::FieldErrors& errors, const boost::json::object& set);
void check_stateful_set_update(sync::wire::FieldErrors& errors, const boost::json::object& set,
                               const boost::json::object& old);
// Checks roles and their bindings.
void check_roles(sync::wire::FieldErrors& errors, const sync::printing::Resource& resource,
                 const boost::json::object& object);
void check_role_reference_kept(sync::wire::FieldErrors& errors, const boost::json::object& binding,
                               const boost::json::object& old);
// The pod of a StatefulSet's template with the volumes of its claims.
[[nodiscard]] boost::json::object with_claim_volumes(const boost::json::object& spec);
void check_label_selector(sync::wire::FieldErrors& errors, const boost::json::object& selector,
                          const std::string& path);
void check_label_map(sync::wire::FieldErrors& errors, const boost::json::object& labels,
                     const std::string& path);
void check_config(sync::wire::FieldErrors& errors, const sync::printing::Resource& resource,
                  const boost::json::object& object);
// Checks the quantities and address ranges of a new or changed node.
void check_node(sync::wire::FieldErrors& errors, const boost::json::object& node);
void check_service(sync::wire::FieldErrors& errors, const boost::json::object& service);
// The field of `part` must be equal in both objects; `part` may be "".
void check_immutable(sync::wire::FieldErrors& errors, const boost::json::object& object,
                     const boost::json::object& old, std::string_view part, std::string_view field);

// A map as Go's %#v prints it: map[string]string{"app":"e"}.
[[nodiscard]] std::string go_map(const boost::json::object& map);

}  // namespace holdfast::agent::lab
