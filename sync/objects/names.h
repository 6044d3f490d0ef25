// The fixed strings of node lifecycle: types, keys, reasons and messages.
//
// Kubernetes and OpenYurt define them and clients match on them. Do not change any.

#pragma once

#include <string_view>

namespace holdfast::sync::objects {

inline constexpr std::string_view condition_ready = "Ready";
inline constexpr std::string_view condition_memory_pressure = "MemoryPressure";
inline constexpr std::string_view condition_disk_pressure = "DiskPressure";
inline constexpr std::string_view condition_pid_pressure = "PIDPressure";
inline constexpr std::string_view condition_out_of_disk = "OutOfDisk";
inline constexpr std::string_view condition_network_unavailable = "NetworkUnavailable";
inline constexpr std::string_view condition_disruption_target = "DisruptionTarget";

inline constexpr std::string_view status_true = "True";
inline constexpr std::string_view status_false = "False";
inline constexpr std::string_view status_unknown = "Unknown";

inline constexpr std::string_view taint_not_ready = "node.kubernetes.io/not-ready";
inline constexpr std::string_view taint_unreachable = "node.kubernetes.io/unreachable";
inline constexpr std::string_view taint_memory_pressure = "node.kubernetes.io/memory-pressure";
inline constexpr std::string_view taint_disk_pressure = "node.kubernetes.io/disk-pressure";
inline constexpr std::string_view taint_pid_pressure = "node.kubernetes.io/pid-pressure";
inline constexpr std::string_view taint_out_of_disk = "node.kubernetes.io/out-of-disk";
inline constexpr std::string_view taint_network = "node.kubernetes.io/network-unavailable";
inline constexpr std::string_view taint_unschedulable = "node.kubernetes.io/unschedulable";
inline constexpr std::string_view taint_out_of_service = "node.kubernetes.io/out-of-service";

inline constexpr std::string_view no_schedule = "NoSchedule";
inline constexpr std::string_view no_execute = "NoExecute";

inline constexpr std::string_view label_region = "topology.kubernetes.io/region";
inline constexpr std::string_view label_zone = "topology.kubernetes.io/zone";
inline constexpr std::string_view label_region_beta = "failure-domain.beta.kubernetes.io/region";
inline constexpr std::string_view label_zone_beta = "failure-domain.beta.kubernetes.io/zone";
inline constexpr std::string_view label_exclude_disruption =
    "node.kubernetes.io/exclude-disruption";
inline constexpr std::string_view label_exempt =
    "node.kubernetes.io/exclude-from-lifecycle-management";
inline constexpr std::string_view label_edge_worker = "openyurt.io/is-edge-worker";

inline constexpr std::string_view annotation_binding = "apps.openyurt.io/binding";
inline constexpr std::string_view annotation_autonomy = "node.beta.openyurt.io/autonomy";
inline constexpr std::string_view annotation_autonomy_duration =
    "node.openyurt.io/autonomy-duration";
inline constexpr std::string_view annotation_mirror_pod = "kubernetes.io/config.mirror";
inline constexpr std::string_view annotation_original_not_ready =
    "apps.openyurt.io/original-not-ready-toleration-duration";
inline constexpr std::string_view annotation_original_unreachable =
    "apps.openyurt.io/original-unreachable-toleration-duration";

inline constexpr std::string_view reason_never_updated = "NodeStatusNeverUpdated";
inline constexpr std::string_view message_never_updated = "Kubelet never posted node status.";
inline constexpr std::string_view reason_status_unknown = "NodeStatusUnknown";
inline constexpr std::string_view message_status_unknown = "Kubelet stopped posting node status.";
inline constexpr std::string_view reason_node_lost = "NodeLost";
inline constexpr std::string_view reason_taint_deletion = "DeletionByTaintManager";
inline constexpr std::string_view message_taint_deletion =
    "Taint manager: deleting due to NoExecute taint";

}  // namespace holdfast::sync::objects
