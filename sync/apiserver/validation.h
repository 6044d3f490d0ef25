// What is wrong with an object before it may be stored, in upstream's words.
//
// Objects have been shaped and defaulted. The checks are those that clients of the lab meet; what
// upstream also refuses and these let pass is stored as it is.

#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "sync/api/field_error.h"
#include "sync/apiserver/resources.h"

namespace holdfast::sync {

// Of a new or changed object by itself.
[[nodiscard]] FieldErrors validate(const Resource& resource, const boost::json::object& object);

// Of a change, besides: what may not change.
[[nodiscard]] FieldErrors validate_update(const Resource& resource,
                                          const boost::json::object& object,
                                          const boost::json::object& old);

// Of a changed status, besides the object's own rules: of pods and nodes what a kube-apiserver
// answers with 422 (two addresses of one family, a container that ended and runs again).
[[nodiscard]] FieldErrors validate_status_update(const Resource& resource,
                                                 const boost::json::object& object,
                                                 const boost::json::object& old);

// Parts, for each other. `path` is the field that the part is at.
void check_pod_spec(FieldErrors& errors, const boost::json::object& spec, const std::string& path);
void check_pod_update(FieldErrors& errors, const boost::json::object& pod,
                      const boost::json::object& old);
void check_workload(FieldErrors& errors, const Resource& resource,
                    const boost::json::object& object);
void check_label_selector(FieldErrors& errors, const boost::json::object& selector,
                          const std::string& path);
void check_label_map(FieldErrors& errors, const boost::json::object& labels,
                     const std::string& path);
void check_config(FieldErrors& errors, const Resource& resource, const boost::json::object& object);
// Amounts and address ranges of a node, new or changed.
void check_node(FieldErrors& errors, const boost::json::object& node);
void check_service(FieldErrors& errors, const boost::json::object& service);
// `field` of both must be equal.
void check_immutable(FieldErrors& errors, const boost::json::object& object,
                     const boost::json::object& old, std::string_view part, std::string_view field);

// As Go's %#v prints it: map[string]string{"app":"e"}.
[[nodiscard]] std::string go_map(const boost::json::object& map);

}  // namespace holdfast::sync
