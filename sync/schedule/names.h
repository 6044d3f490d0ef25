// The fixed strings of scheduling: plugins, reasons and messages. Kubernetes defines them, except
// those of NodeContact.

#pragma once

#include <string_view>

namespace holdfast::sync::schedule {

inline constexpr std::string_view plugin_unschedulable = "NodeUnschedulable";
inline constexpr std::string_view plugin_node_name = "NodeName";
inline constexpr std::string_view plugin_taints = "TaintToleration";
inline constexpr std::string_view plugin_node_affinity = "NodeAffinity";
inline constexpr std::string_view plugin_ports = "NodePorts";
inline constexpr std::string_view plugin_fit = "NodeResourcesFit";
inline constexpr std::string_view plugin_volume_restrictions = "VolumeRestrictions";
inline constexpr std::string_view plugin_volume_limits = "NodeVolumeLimits";
inline constexpr std::string_view plugin_volume_binding = "VolumeBinding";
inline constexpr std::string_view plugin_volume_zone = "VolumeZone";
inline constexpr std::string_view plugin_spread = "PodTopologySpread";
inline constexpr std::string_view plugin_pod_affinity = "InterPodAffinity";
inline constexpr std::string_view plugin_dynamic_resources = "DynamicResources";
inline constexpr std::string_view plugin_gang = "GangScheduling";
inline constexpr std::string_view plugin_gates = "SchedulingGates";
inline constexpr std::string_view plugin_preemption = "DefaultPreemption";
inline constexpr std::string_view plugin_extender = "Extender";
inline constexpr std::string_view plugin_contact = "NodeContact";  // ours
inline constexpr std::string_view plugin_memory_pressure = "CheckNodeMemoryPressure";
inline constexpr std::string_view plugin_disk_pressure = "CheckNodeDiskPressure";

inline constexpr std::string_view reason_unschedulable = "node(s) were unschedulable";
inline constexpr std::string_view reason_node_name = "node(s) didn't match the requested node name";
inline constexpr std::string_view reason_node_affinity =
    "node(s) didn't match Pod's node affinity/selector";
inline constexpr std::string_view reason_affinity_conflict = "pod affinity terms conflict";
inline constexpr std::string_view reason_ports =
    "node(s) didn't have free ports for the requested pod ports";
inline constexpr std::string_view reason_too_many_pods = "Too many pods";
inline constexpr std::string_view reason_memory_pressure = "NodeUnderMemoryPressure";
inline constexpr std::string_view reason_disk_pressure = "NodeUnderDiskPressure";
inline constexpr std::string_view reason_pod_affinity = "node(s) didn't match pod affinity rules";
inline constexpr std::string_view reason_pod_anti_affinity =
    "node(s) didn't match pod anti-affinity rules";
inline constexpr std::string_view reason_existing_anti_affinity =
    "node(s) didn't satisfy existing pods anti-affinity rules";
inline constexpr std::string_view reason_unbound_claims =
    "pod has unbound immediate PersistentVolumeClaims";
inline constexpr std::string_view reason_no_volume =
    "node(s) didn't find available persistent volumes to bind";
inline constexpr std::string_view reason_volume_affinity =
    "node(s) didn't match PersistentVolume's node affinity";
inline constexpr std::string_view reason_volume_missing =
    "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)";
inline constexpr std::string_view reason_volume_zone = "node(s) had no available volume zone";
inline constexpr std::string_view reason_volume_limit = "node(s) exceed max volume count";
inline constexpr std::string_view reason_disk_conflict = "node(s) had no available disk";
inline constexpr std::string_view reason_exclusive_claim =
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already "
    "in-use by another pod";
inline constexpr std::string_view reason_contact = "node(s) were autonomous and out of contact";
inline constexpr std::string_view reason_spread =
    "node(s) didn't match pod topology spread constraints";
inline constexpr std::string_view reason_spread_label =
    "node(s) didn't match pod topology spread constraints (missing required label)";

inline constexpr std::string_view reason_no_nodes = "no nodes available to schedule pods";
inline constexpr std::string_view reason_no_victims =
    "No preemption victims found for incoming pod";
inline constexpr std::string_view reason_not_helpful = "Preemption is not helpful for scheduling";
inline constexpr std::string_view reason_no_candidate = "no candidate node for preemption";
inline constexpr std::string_view reason_never = "not eligible due to preemptionPolicy=Never.";
inline constexpr std::string_view reason_still_terminating =
    "not eligible due to a terminating pod on the nominated node.";
inline constexpr std::string_view reason_preempting =
    "waiting for the preemption for this pod to be finished";

inline constexpr std::string_view condition_scheduled = "PodScheduled";
inline constexpr std::string_view condition_disruption = "DisruptionTarget";
inline constexpr std::string_view reason_by_scheduler = "PreemptionByScheduler";
inline constexpr std::string_view reason_by_kubelet = "TerminationByKubelet";

}  // namespace holdfast::sync::schedule
