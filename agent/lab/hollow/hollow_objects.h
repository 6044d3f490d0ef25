// What a hollow node writes: the JSON of its node, its lease and its pods.
//
// Hollow, as kubemark says it: there is nobody behind the objects who would run a pod.

#pragma once

#include <cstdint>
#include <string>

#include "platform/time.h"

namespace holdfast::agent {

[[nodiscard]] std::string hollow_node(const std::string& name, const std::string& zone);
// The conditions of a healthy node, as of `now`: a patch of its status.
[[nodiscard]] std::string hollow_node_status(WallTime now);

[[nodiscard]] std::string hollow_lease(const std::string& node, std::int32_t duration_seconds,
                                       WallTime now);
// A merge patch that renews it, refused unless the lease is still at `version`: one that was stuck
// in a broken link must not take a later one back.
[[nodiscard]] std::string hollow_renewal(const std::string& version, WallTime now);

// Bound to `node`; it stays `patience_seconds` on an unreachable or not ready node.
[[nodiscard]] std::string hollow_pod(const std::string& name, const std::string& node,
                                     const std::string& zone, int patience_seconds);
// A patch that says that the pod runs.
[[nodiscard]] std::string hollow_pod_status(WallTime now);

// The label of a hollow pod whose value is its zone.
inline constexpr const char* hollow_zone_label = "zone";

}  // namespace holdfast::agent
