// The nodes and pods of a scenario as Kubernetes objects.

#pragma once

#include <string>

#include "agent/lab/scenario/scenario.h"
#include "sync/model/node.h"
#include "sync/model/pod.h"

namespace holdfast::agent::lab::sim {

// "a-1": the number counts from 1.
[[nodiscard]] std::string node_name(const Site& site, int number);

// As its kubelet registers it, without a status.
[[nodiscard]] sync::Node make_node(const Site& site, const std::string& name);

// The status that a healthy kubelet posts. `before` is the status that it posted last, whose
// transition times are kept.
[[nodiscard]] sync::NodeStatus healthy_status(const Site& site, const sync::NodeStatus& before,
                                              WallTime now);

// "deployment/web"
[[nodiscard]] std::string title_of(const Workload& workload);

// A pod from the workload's template. `revision` numbers the templates of a workload.
[[nodiscard]] sync::Pod make_pod(const Workload& workload, const std::string& name, int revision);

inline constexpr std::string_view site_label = "holdfast.io/site";
inline constexpr std::string_view workload_label = "app";
inline constexpr std::string_view revision_label = "holdfast.io/revision";

// The status of the node's condition Ready; empty if it has none.
[[nodiscard]] std::string_view ready_status(const sync::Node& node);

// Whether the pod's condition Ready is True.
[[nodiscard]] bool is_ready(const sync::Pod& pod);

}  // namespace holdfast::agent::lab::sim
