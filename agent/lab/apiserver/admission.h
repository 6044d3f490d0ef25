// What a new object gets that depends on other objects: a pod's priority, a service's address.

#pragma once

#include <boost/json/object.hpp>

#include "agent/lab/apiserver/registry.h"
#include "platform/random.h"
#include "sync/apiserver/answer.h"

namespace holdfast::agent::lab {

// Priority from its class, tolerations of an unwell node. Refuses an unknown class.
[[nodiscard]] sync::Answer<boost::json::object> admit_pod(const Registry& registry,
                                                          boost::json::object pod);

// A cluster IP and node ports where they are wanted and missing.
// Refuses when there are none left.
[[nodiscard]] sync::Answer<boost::json::object> admit_service(const Registry& registry,
                                                              boost::json::object service,
                                                              Random& random);

}  // namespace holdfast::agent::lab
