// Builds the JSON that a hollow node writes: its Node, its Lease and its pods.
// "Hollow" is kubemark's term: the objects exist in the API, but no kubelet runs the pods.

#pragma once

#include <cstdint>
#include <string>

#include "platform/time.h"

namespace holdfast::agent {

[[nodiscard]] std::string hollow_node(const std::string& name, const std::string& zone);
// A status patch with the capacity and the conditions of a healthy node as of `now`.
[[nodiscard]] std::string hollow_node_status(WallTime now);

[[nodiscard]] std::string hollow_lease(const std::string& node, std::int32_t duration_seconds,
                                       WallTime now);
// A merge patch that renews the lease. It conflicts unless the lease is still at resourceVersion
// `version`, so that a renewal delayed by a broken link cannot overwrite a later one.
[[nodiscard]] std::string hollow_renewal(const std::string& version, WallTime now);

// A pod bound to `node`. It tolerates an unreachable or not ready node for `patience_seconds`.
[[nodiscard]] std::string hollow_pod(const std::string& name, const std::string& node,
                                     const std::string& zone, int patience_seconds);
// A status patch that marks the pod Running and Ready.
[[nodiscard]] std::string hollow_pod_status(WallTime now);

// The label of a hollow pod whose value is its zone.
inline constexpr const char* hollow_zone_label = "zone";

}  // namespace holdfast::agent
