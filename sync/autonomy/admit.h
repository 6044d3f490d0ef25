// Decides which writes of the node's components the edge agent accepts while the cloud is
// unreachable, and how it handles each of them.
//
// Admission lists the writes that are accepted. Any other write is refused with 503 and a reason:
// the agent never drops a write silently and never claims success for a write that it does not
// keep.

#pragma once

#include <cstdint>
#include <string_view>

#include "sync/objects/request_info.h"

namespace holdfast::sync::autonomy {

enum class Admission : std::uint8_t {
  refuse,        // 503: only the API server can do this
  own_lease,     // renewed by the agent, never journalled
  registration,  // POST of this node: answered with 409 AlreadyExists, so that the kubelet goes on
                 // to GET it; sent later in case the API server no longer has the node
  node_status,   // applied to the cached Node, journalled, coalesced
  pod_status,    // as node_status, for a pod of this node
  final_delete,  // DELETE of a pod of this node with grace period 0: applied, journalled
  mirror_pod,    // creation of a static pod's mirror: created in the cache, journalled
  csi_node,      // applied, journalled, coalesced
  event,         // journalled in a bounded ring; dropped before any other write
  token,         // TokenRequest: answered with the stored token
};

[[nodiscard]] std::string_view to_string(Admission admission);

// Classifies a write on node `node_name` while the cloud is unreachable. It needs no body:
// apply_local_write() checks what depends on the body or the object (a pod's node, a mirror pod's
// annotation, the grace period).
[[nodiscard]] Admission admit(const objects::RequestInfo& request, std::string_view node_name);

// Whether a write that is accepted here is shown before the API server has it. An Event is only
// queued, so a rejoin need not wait until it is sent.
[[nodiscard]] bool is_shown_locally(std::string_view resource);

// The namespace of the node leases.
inline constexpr std::string_view lease_namespace = "kube-node-lease";

// Whether `request` reads or writes the lease of `node_name`.
[[nodiscard]] bool is_own_lease(const objects::RequestInfo& request, std::string_view node_name);

}  // namespace holdfast::sync::autonomy
