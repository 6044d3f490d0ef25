// The defaults that upstream sets for fields that a client left out.

#pragma once

#include <boost/json/object.hpp>
#include <string_view>

#include "sync/printing/resources.h"

namespace holdfast::agent::lab {

// Applies the defaults of the resource's stored kind. Added fields are at the end: shape() the
// object afterwards. Applying it twice has no further effect.
void apply_defaults(const sync::printing::Resource& resource, boost::json::object& object);

// Applies the defaults of a pod's spec, in a pod or in a template.
void default_pod_spec(boost::json::object& spec);

// Applies the defaults of a pod, including those that templates do not have: requests from limits,
// service links.
void default_pod(boost::json::object& pod);

// The defaults of a PersistentVolumeClaim, a Job and a StatefulSet.
void default_claim(boost::json::object& claim);
void default_job(boost::json::object& job);
void default_stateful_set(boost::json::object& set);

// Labels the template of a new Job with the Job's name and uid, and sets the selector of its pods,
// unless spec.manualSelector is true.
void select_own_pods(boost::json::object& job);
inline constexpr std::string_view job_name_label = "batch.kubernetes.io/job-name";
inline constexpr std::string_view job_uid_label = "batch.kubernetes.io/controller-uid";

// The defaults of a RoleBinding or ClusterRoleBinding.
void default_role_binding(boost::json::object& binding);

// Adds what admission plugins add to a new pod: tolerations for not-ready and unreachable nodes for
// 300 s, and its priority.
void admit_pod(boost::json::object& pod, std::int64_t priority, std::string_view preemption);

// "BestEffort", "Burstable" or "Guaranteed".
[[nodiscard]] std::string_view qos_class(const boost::json::object& pod);

}  // namespace holdfast::agent::lab
