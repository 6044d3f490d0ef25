// What the edge may decide alone: which writes are accepted while the cloud is away, and how.
//
// The table is reference/peers.md 4.5. Whatever is not in it is refused with 503 and a reason,
// never dropped and never pretended.

#pragma once

#include <cstdint>
#include <string_view>

#include "sync/api/request_info.h"

namespace holdfast::sync {

enum class Admission : std::uint8_t {
  refuse,        // 503: needs the cloud
  own_lease,     // renewed here, never journalled
  registration,  // POST of our node: 409 AlreadyExists, so that the kubelet goes on to GET; sent
                 // later if the cloud does not have the node then
  node_status,   // applied to the cached node, journalled, coalesced
  pod_status,    // the same for a pod of this node
  final_delete,  // DELETE of our pod with grace 0: remembered, journalled
  mirror_pod,    // a static pod's mirror: created here, journalled
  csi_node,      // applied, journalled, coalesced
  event,         // journalled in a bounded ring; the first thing to be dropped
  token,         // TokenRequest: the stored token while it is valid
};

[[nodiscard]] std::string_view to_string(Admission admission);

// What about a write of `request` on node `node_name` while the cloud is away. Needs no body: what
// depends on it (a pod's node, a mirror's annotation, a delete's grace) is checked when applied.
[[nodiscard]] Admission admit(const RequestInfo& request, std::string_view node_name);

// Namespace of the nodes' leases.
inline constexpr std::string_view lease_namespace = "kube-node-lease";

// Whether `request` is about the lease of `node_name`.
[[nodiscard]] bool is_own_lease(const RequestInfo& request, std::string_view node_name);

}  // namespace holdfast::sync
