// What the actions of the rules look like on the wire: paths and bodies. Nothing is sent here.

#pragma once

#include <string>
#include <string_view>

#include "agent/client/api_client.h"
#include "sync/lifecycle/actions.h"
#include "sync/lifecycle/pod_binding.h"

namespace holdfast::agent {

[[nodiscard]] ApiRequest read_node(const std::string& name, bool live);

// The node's own lease, live.
[[nodiscard]] ApiRequest read_lease(const std::string& node);

// Refused with a conflict unless the node is still the one, and as, it was judged.
[[nodiscard]] ApiRequest write_conditions(const sync::lifecycle::UpdateNodeStatus& action);

// All taints of a node; refused with a conflict unless it is still at `version`.
[[nodiscard]] ApiRequest write_taints(const std::string& node, const std::string& version,
                                      const std::vector<sync::Taint>& taints);
[[nodiscard]] ApiRequest write_labels(const sync::lifecycle::PatchLabels& action);

// Refused with a conflict if the name belongs to another pod by now.
[[nodiscard]] ApiRequest mark_not_ready(const sync::lifecycle::MarkPodNotReady& action);
[[nodiscard]] ApiRequest mark_lost(const sync::lifecycle::MarkPodLost& action);
[[nodiscard]] ApiRequest mark_disrupted(const sync::lifecycle::MarkPodDisrupted& action);
[[nodiscard]] ApiRequest delete_pod(const sync::lifecycle::DeletePod& action);
[[nodiscard]] ApiRequest evict_pod(const sync::lifecycle::EvictPod& action);
[[nodiscard]] ApiRequest fail_pod(const sync::lifecycle::FailPod& action);

[[nodiscard]] ApiRequest read_pod(const sync::lifecycle::PodRef& pod);
// Refused with a conflict unless the pod is still at `version`.
[[nodiscard]] ApiRequest write_binding(const sync::lifecycle::PodRef& pod,
                                       const std::string& version,
                                       const sync::lifecycle::PodBinding& binding);

// Refused with a conflict if the name belongs to another node by now.
[[nodiscard]] ApiRequest delete_node(const sync::lifecycle::DeleteNode& action);

[[nodiscard]] ApiRequest list_attachments();
[[nodiscard]] ApiRequest delete_attachment(const std::string& name, const std::string& uid);

}  // namespace holdfast::agent
