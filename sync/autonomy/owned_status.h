// Which parts of an object's status a node owns, and a queued status as a patch of what the API
// server has now. Pure.
//
// A kubelet owns all of a pod's and a node's status but what others write there: conditions of
// other types than its own (readiness gates, a problem detector's), and fields of the scheduler and
// of controllers (nominatedNodeName, resourceClaimStatuses, volumesAttached). Fields that are not
// known here are not the node's either. The facts are those of kubelet 1.36: status_manager.go
// mergePodStatus(), types/pod_status.go and nodeutil.PatchNodeStatus().

#pragma once

#include <string>
#include <string_view>

#include "sync/api/json.h"

namespace holdfast::sync {

// Whether a queued write is a whole status (of a CSINode: its spec) that is turned into a patch
// when it is sent.
[[nodiscard]] bool is_owned_status(std::string_view verb, std::string_view resource,
                                   std::string_view subresource);

// The status that the API server is to have: what it has now with the node's parts taken from
// `ours`. Neither has fields that are null.
[[nodiscard]] json::object owned_pod_status(const json::object& theirs, const json::object& ours);
[[nodiscard]] json::object owned_node_status(const json::object& theirs, const json::object& ours);

struct StatusReplay {
  std::string_view resource;   // "pods", "nodes" or "csinodes"
  std::string_view node_name;  // of this agent's node
  std::string_view queued;     // the body as apply_local_write() queued it
  std::string_view theirs;     // the object as the API server has it now, in JSON
};

struct ReplayPatch {
  enum class What : std::uint8_t {
    send,
    nothing,   // the API server has this status already
    conflict,  // another object of that name: `why` says so
  };

  What what = What::nothing;
  std::string body = {};  // a strategic merge patch that names the object's uid
  std::string why = {};
};

// Errors: invalid (one of the two is not an object in JSON), corrupt (no patch can be made: a
// condition without a type, for example).
[[nodiscard]] Result<ReplayPatch> replay_patch(const StatusReplay& replay);

}  // namespace holdfast::sync
