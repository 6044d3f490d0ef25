// Admission: sets the fields of a new object that depend on other objects, such as a pod's priority
// or a service's cluster IP.

#pragma once

#include <boost/json/object.hpp>

#include "agent/lab/apiserver/registry.h"
#include "agent/lab/rules/answer.h"
#include "platform/random.h"

namespace holdfast::agent::lab {

// Sets the pod's priority from its PriorityClass, and the default tolerations of nodes that are not
// ready or unreachable. Refuses an unknown class.
[[nodiscard]] Answer<boost::json::object> admit_pod(const Registry& registry,
                                                    boost::json::object pod);

// Assigns a cluster IP and node ports if the service needs them and has none. Refuses if none are
// left.
[[nodiscard]] Answer<boost::json::object> admit_service(const Registry& registry,
                                                        boost::json::object service,
                                                        Random& random);

}  // namespace holdfast::agent::lab
