// Builds the API requests for effects: paths and bodies. Sends nothing.

#pragma once

#include <string>
#include <string_view>

#include "agent/client/api_client.h"
#include "sync/lifecycle/effects.h"
#include "sync/lifecycle/pod_binding.h"

namespace holdfast::agent {

// `live` reads from etcd; otherwise the API server may answer from its watch cache.
[[nodiscard]] ApiRequest read_node(const std::string& name, bool live);

// Reads the node's Lease in kube-node-lease from etcd.
[[nodiscard]] ApiRequest read_lease(const std::string& node);

// The API server refuses it with a conflict if the node was replaced or changed meanwhile.
[[nodiscard]] ApiRequest write_conditions(const sync::lifecycle::UpdateNodeStatus& effect);

// Replaces all taints of a node. Conflicts unless the node is still at resourceVersion `version`.
[[nodiscard]] ApiRequest write_taints(const std::string& node, const std::string& version,
                                      const std::vector<sync::Taint>& taints);
[[nodiscard]] ApiRequest write_labels(const sync::lifecycle::PatchLabels& effect);

// The API server refuses it with a conflict if the name now belongs to another pod.
[[nodiscard]] ApiRequest mark_not_ready(const sync::lifecycle::MarkPodNotReady& effect);
[[nodiscard]] ApiRequest mark_lost(const sync::lifecycle::MarkPodLost& effect);
[[nodiscard]] ApiRequest mark_disrupted(const sync::lifecycle::MarkPodDisrupted& effect);
[[nodiscard]] ApiRequest delete_pod(const sync::lifecycle::DeletePod& effect);
[[nodiscard]] ApiRequest evict_pod(const sync::lifecycle::EvictPod& effect);
[[nodiscard]] ApiRequest fail_pod(const sync::lifecycle::FailPod& effect);

[[nodiscard]] ApiRequest read_pod(const sync::lifecycle::PodRef& pod);
// Replaces the pod's tolerations and the annotations of the binding. Conflicts unless the pod is
// still at resourceVersion `version`.
[[nodiscard]] ApiRequest write_binding(const sync::lifecycle::PodRef& pod,
                                       const std::string& version,
                                       const sync::lifecycle::PodBinding& binding);

// The API server refuses it with a conflict if the name now belongs to another node.
[[nodiscard]] ApiRequest delete_node(const sync::lifecycle::DeleteNode& effect);

// The VolumeAttachments of all nodes; see attachments.h.
[[nodiscard]] ApiRequest list_attachments();
[[nodiscard]] ApiRequest delete_attachment(const std::string& name, const std::string& uid);

}  // namespace holdfast::agent
