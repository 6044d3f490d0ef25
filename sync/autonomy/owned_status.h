// Turns a queued status into a patch of the object that the API server has now, limited to the
// fields that a node owns. Pure.
//
// A kubelet owns the whole status of its node and pods except what others write there: conditions
// of other types than its own (readiness gates, node problem detector), fields of the scheduler and
// of controllers (nominatedNodeName, resourceClaimStatuses, volumesAttached), and fields that this
// code does not know. This follows kubelet 1.36: status_manager.go mergePodStatus(),
// types/pod_status.go and nodeutil.PatchNodeStatus().
//
// A program on the node may write conditions of other types through the agent as well. A queued
// status names the types that were written so ("writtenConditions"), and those are sent, too.

#pragma once

#include <set>
#include <string>
#include <string_view>

#include "sync/wire/json.h"

namespace holdfast::sync::autonomy {

// Whether a queued write carries a whole status (for a CSINode: its spec) that replay_patch() turns
// into a patch when it is sent.
[[nodiscard]] bool is_owned_status(std::string_view verb, std::string_view resource,
                                   std::string_view subresource);

// Types of conditions that are not the kubelet's.
using WrittenConditions = std::set<std::string, std::less<>>;

// Those that differ between two statuses of a pod or node ("pods", "nodes"; others have none).
[[nodiscard]] WrittenConditions written_conditions(std::string_view resource,
                                                   const json::object& before,
                                                   const json::object& after);
// Those that a queued status names; and lets it name them.
[[nodiscard]] WrittenConditions written_conditions(const json::object& queued);
void name_written_conditions(json::object& queued, const WrittenConditions& types);

// The status that the API server should have: `theirs`, with the parts that the node owns and the
// conditions `written` taken from `ours`. Neither may contain null fields.
[[nodiscard]] json::object owned_pod_status(const json::object& theirs, const json::object& ours,
                                            const WrittenConditions& written = {});
[[nodiscard]] json::object owned_node_status(const json::object& theirs, const json::object& ours,
                                             const WrittenConditions& written = {});

struct StatusReplay {
  std::string_view resource;   // "pods", "nodes" or "csinodes"
  std::string_view node_name;  // of this agent's node
  std::string_view queued;     // the body as apply_local_write() queued it
  std::string_view theirs;     // the object as the API server has it now, in JSON
};

struct ReplayPatch {
  // `send`: `body` is to be sent. `nothing`: the API server already has this status. `conflict`:
  // the object is not the one that was written (see `why`).
  enum class What : std::uint8_t {
    send,
    nothing,
    conflict,
  };

  What what = What::nothing;
  std::string body = {};  // a strategic merge patch with the object's uid
  std::string why = {};
};

// Errors: invalid (`queued` or `theirs` is not a JSON object), corrupt (no patch can be computed,
// for example for a condition without a type).
[[nodiscard]] Result<ReplayPatch> replay_patch(const StatusReplay& replay);

}  // namespace holdfast::sync::autonomy
