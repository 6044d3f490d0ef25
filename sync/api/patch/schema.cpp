#include "sync/api/patch/schema.h"

#include <algorithm>
#include <array>

namespace holdfast::sync {
namespace {

using How = PatchField::How;

constexpr PatchField descend(std::string_view type, std::string_view field, std::string_view of) {
  return {type, field, How::descend, of, {}};
}
constexpr PatchField merge(std::string_view type, std::string_view field, std::string_view key,
                           std::string_view of = {}) {
  return {type, field, How::merge, of, key};
}

// Every "metadata" is an ObjectMeta.
constexpr PatchField metadata = descend({}, "metadata", "ObjectMeta");

constexpr std::array rules = {
    merge("ObjectMeta", "ownerReferences", "uid"),
    merge("ObjectMeta", "finalizers", ""),
    descend("Pod", "spec", "PodSpec"),
    descend("Pod", "status", "PodStatus"),
    descend("PodTemplateSpec", "spec", "PodSpec"),
    PatchField{"PodSpec", "volumes", How::merge, "Volume", "name", true},
    merge("PodSpec", "initContainers", "name", "Container"),
    merge("PodSpec", "containers", "name", "Container"),
    merge("PodSpec", "ephemeralContainers", "name", "Container"),
    merge("PodSpec", "imagePullSecrets", "name"),
    merge("PodSpec", "hostAliases", "ip"),
    merge("PodSpec", "topologySpreadConstraints", "topologyKey"),
    merge("PodSpec", "schedulingGates", "name"),
    merge("PodSpec", "resourceClaims", "name"),
    merge("Container", "ports", "containerPort"),
    merge("Container", "env", "name"),
    merge("Container", "volumeMounts", "mountPath"),
    merge("Container", "volumeDevices", "devicePath"),
    descend("Volume", "ephemeral", "EphemeralVolumeSource"),
    descend("EphemeralVolumeSource", "volumeClaimTemplate", "PersistentVolumeClaimTemplate"),
    merge("PodStatus", "conditions", "type"),
    merge("PodStatus", "hostIPs", "ip"),
    merge("PodStatus", "podIPs", "ip"),
    merge("PodStatus", "resourceClaimStatuses", "name"),
    descend("PodStatus", "initContainerStatuses", "ContainerStatus"),
    descend("PodStatus", "containerStatuses", "ContainerStatus"),
    descend("PodStatus", "ephemeralContainerStatuses", "ContainerStatus"),
    merge("ContainerStatus", "volumeMounts", "mountPath"),
    merge("ContainerStatus", "allocatedResourcesStatus", "name"),
    descend("Node", "spec", "NodeSpec"),
    descend("Node", "status", "NodeStatus"),
    merge("NodeSpec", "podCIDRs", ""),
    merge("NodeStatus", "conditions", "type"),
    merge("NodeStatus", "addresses", "type"),
    descend("Namespace", "status", "ConditionsOnly"),
    descend("Service", "spec", "ServiceSpec"),
    descend("Service", "status", "ConditionsOnly"),
    merge("ServiceSpec", "ports", "port"),
    merge("ServiceAccount", "secrets", "name"),
    descend("ReplicationController", "spec", "WorkloadSpec"),
    descend("ReplicationController", "status", "ConditionsOnly"),
    descend("Deployment", "spec", "WorkloadSpec"),
    descend("Deployment", "status", "ConditionsOnly"),
    descend("ReplicaSet", "spec", "WorkloadSpec"),
    descend("ReplicaSet", "status", "ConditionsOnly"),
    descend("DaemonSet", "spec", "WorkloadSpec"),
    descend("DaemonSet", "status", "ConditionsOnly"),
    descend("StatefulSet", "spec", "WorkloadSpec"),
    descend("StatefulSet", "status", "ConditionsOnly"),
    descend("Job", "spec", "WorkloadSpec"),
    descend("Job", "status", "ConditionsOnly"),
    descend("WorkloadSpec", "template", "PodTemplateSpec"),
    PatchField{"WorkloadSpec", "strategy", How::descend, {}, {}, true},  // a Deployment's
    merge("ConditionsOnly", "conditions", "type"),
    descend("PodDisruptionBudget", "spec", "PodDisruptionBudgetSpec"),
    descend("PodDisruptionBudget", "status", "ConditionsOnly"),
    PatchField{"PodDisruptionBudgetSpec", "selector", How::replace, {}, {}},
    descend("CSINode", "spec", "CSINodeSpec"),
    merge("CSINodeSpec", "drivers", "name"),
    descend("CertificateSigningRequest", "status", "ConditionsOnly"),
};

// Kinds whose only rules are those of their metadata.
constexpr std::array<std::string_view, 12> plain_kinds = {
    "ConfigMap", "Secret",    "Event",        "Endpoints",     "EndpointSlice", "Lease",
    "CSIDriver", "Namespace", "RuntimeClass", "PriorityClass", "StorageClass",  "Scale",
};

}  // namespace

const PatchField* find_patch_field(std::string_view type, std::string_view field) {
  if (field == metadata.field) return &metadata;
  if (type.empty()) return nullptr;
  const auto found = std::find_if(rules.begin(), rules.end(), [type, field](const auto& rule) {
    return rule.type == type && rule.field == field;
  });
  return found == rules.end() ? nullptr : &*found;
}

bool has_patch_schema(std::string_view kind) {
  return std::find(plain_kinds.begin(), plain_kinds.end(), kind) != plain_kinds.end() ||
         std::any_of(rules.begin(), rules.end(),
                     [kind](const auto& rule) { return rule.type == kind; });
}

}  // namespace holdfast::sync
