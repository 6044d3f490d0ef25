// What upstream fills in: the values of fields that a client left out.

#pragma once

#include <boost/json/object.hpp>

#include "sync/apiserver/resources.h"

namespace holdfast::sync {

// Fills in the defaults of the resource's stored kind. Fields that it adds come last: shape() the
// object afterwards. Doing it twice changes nothing.
void apply_defaults(const Resource& resource, boost::json::object& object);

// Those of a pod's spec, alone or in a template.
void default_pod_spec(boost::json::object& spec);

// Those that only a pod of its own gets: requests from limits, service links.
void default_pod(boost::json::object& pod);

// What admission adds to a new pod: tolerations of an unwell node for 300 s, its priority.
void admit_pod(boost::json::object& pod, std::int64_t priority, std::string_view preemption);

// "BestEffort", "Burstable" or "Guaranteed".
[[nodiscard]] std::string_view qos_class(const boost::json::object& pod);

}  // namespace holdfast::sync
