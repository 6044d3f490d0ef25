// Builds the HTTP requests (path, method, body) for the actions of sync/lifecycle. Nothing is sent
// here; ApiWriter (api_writer.h) sends them.
//
// Most requests carry a precondition: the uid of the object, its resourceVersion, or both. The API
// server then answers 409 Conflict if the object has been replaced or changed since the decision.

#pragma once

#include <string>
#include <string_view>

#include "agent/client/api_client.h"
#include "sync/lifecycle/actions.h"
#include "sync/lifecycle/pod_binding.h"

namespace holdfast::agent {

// `live` reads from etcd; otherwise the API server may answer from its watch cache.
[[nodiscard]] ApiRequest read_node(const std::string& name, bool live);

// Reads the node's Lease in kube-node-lease from etcd.
[[nodiscard]] ApiRequest read_lease(const std::string& node);

// Conflicts unless the node still has the uid and the resourceVersion of the decision.
[[nodiscard]] ApiRequest write_conditions(const sync::lifecycle::UpdateNodeStatus& action);

// Replaces all taints of a node. Conflicts unless the node is still at resourceVersion `version`.
[[nodiscard]] ApiRequest write_taints(const std::string& node, const std::string& version,
                                      const std::vector<sync::Taint>& taints);
[[nodiscard]] ApiRequest write_labels(const sync::lifecycle::PatchLabels& action);

// The requests for one pod conflict if the name belongs to a pod with another uid by now.
[[nodiscard]] ApiRequest mark_not_ready(const sync::lifecycle::MarkPodNotReady& action);
[[nodiscard]] ApiRequest mark_lost(const sync::lifecycle::MarkPodLost& action);
[[nodiscard]] ApiRequest mark_disrupted(const sync::lifecycle::MarkPodDisrupted& action);
[[nodiscard]] ApiRequest delete_pod(const sync::lifecycle::DeletePod& action);
[[nodiscard]] ApiRequest evict_pod(const sync::lifecycle::EvictPod& action);
[[nodiscard]] ApiRequest fail_pod(const sync::lifecycle::FailPod& action);

[[nodiscard]] ApiRequest read_pod(const sync::lifecycle::PodRef& pod);
// Replaces the pod's tolerations and the annotations of the binding. Conflicts unless the pod is
// still at resourceVersion `version`.
[[nodiscard]] ApiRequest write_binding(const sync::lifecycle::PodRef& pod,
                                       const std::string& version,
                                       const sync::lifecycle::PodBinding& binding);

// Conflicts if the name belongs to a node with another uid by now.
[[nodiscard]] ApiRequest delete_node(const sync::lifecycle::DeleteNode& action);

// The VolumeAttachments of all nodes; see attachments.h.
[[nodiscard]] ApiRequest list_attachments();
[[nodiscard]] ApiRequest delete_attachment(const std::string& name, const std::string& uid);

}  // namespace holdfast::agent
