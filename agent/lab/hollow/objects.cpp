#include "agent/lab/hollow/objects.h"

#include <algorithm>

#include "platform/version.h"
#include "sync/objects/names.h"
#include "sync/wire/codec.h"

namespace holdfast::agent::hollow {
namespace {

namespace json = sync::json;

struct HealthyCondition {
  const char* type;
  const char* status;
  const char* reason;
  const char* message;
};

// The texts are the kubelet's.
constexpr HealthyCondition healthy[] = {
    {"MemoryPressure", "False", "KubeletHasSufficientMemory",
     "kubelet has sufficient memory available"},
    {"DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"},
    {"PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"},
    {"Ready", "True", "KubeletReady", "kubelet is posting ready status"}};

json::array healthy_conditions(const sync::NodeStatus& current, WallTime now) {
  json::array all;
  for (const HealthyCondition& each : healthy) {
    const auto is_same = [&each](const sync::NodeCondition& old) {
      return old.type == each.type && old.status == each.status && old.last_transition_time;
    };
    const auto same = std::find_if(current.conditions.begin(), current.conditions.end(), is_same);
    const WallTime since = same == current.conditions.end() ? now : *same->last_transition_time;
    all.push_back(json::object{{"type", each.type},
                               {"status", each.status},
                               {"lastHeartbeatTime", format_rfc3339(now)},
                               {"lastTransitionTime", format_rfc3339(since)},
                               {"reason", each.reason},
                               {"message", each.message}});
  }
  return all;
}

json::object node_software() {
  return {{"architecture", "amd64"},
          {"operatingSystem", "linux"},
          {"osImage", "hollow"},
          {"kernelVersion", "hollow"},
          {"containerRuntimeVersion", "hollow://" + std::string(version)},
          {"kubeletVersion", "v0.0.0-holdfast-lab"},
          {"kubeProxyVersion", ""},
          {"machineID", ""},
          {"systemUUID", ""},
          {"bootID", ""}};
}

json::object true_condition(const char* type, WallTime since, const char* reason = nullptr) {
  json::object made{{"type", type},
                    {"status", "True"},
                    {"lastProbeTime", nullptr},
                    {"lastTransitionTime", format_rfc3339(since)}};
  if (reason != nullptr) made["reason"] = reason;
  return made;
}

json::object false_condition(const char* type, WallTime since) {
  json::object made = true_condition(type, since, "PodCompleted");
  made["status"] = "False";
  return made;
}

json::object container_state(bool ended, WallTime started, WallTime now) {
  if (!ended) return {{"running", json::object{{"startedAt", format_rfc3339(started)}}}};
  return {{"terminated", json::object{{"exitCode", 0},
                                      {"reason", "Completed"},
                                      {"startedAt", format_rfc3339(started)},
                                      {"finishedAt", format_rfc3339(now)}}}};
}

json::object container_status(const PodContainer& container, bool ended, WallTime started,
                              WallTime now) {
  const bool is_init = container.kind == PodContainer::Kind::init;
  return {{"name", container.name},
          {"image", container.image},
          {"imageID", ""},
          {"containerID", "hollow://" + container.name},
          {"restartCount", 0},
          {"ready", is_init || !ended},
          {"started", !is_init && !ended},
          {"state", container_state(ended || is_init, started, now)},
          {"lastState", json::object()}};
}

json::object no_execute(const char* key, int seconds) {
  return {{"key", key},
          {"operator", "Exists"},
          {"effect", "NoExecute"},
          {"tolerationSeconds", seconds}};
}

// `offset` into the network whose first address is `network`, as text.
std::string address_in(std::uint32_t network, std::uint32_t offset) {
  const std::uint32_t address = network + offset;
  std::string text;
  for (const int shift : {24, 16, 8, 0}) {
    if (!text.empty()) text += '.';
    text += std::to_string(address >> static_cast<unsigned>(shift) & 0xFFU);
  }
  return text;
}

}  // namespace

sync::StringMap Plan::labels_of(NodeId node) const {
  sync::StringMap all{{"kubernetes.io/hostname", nodes[node]},
                      {"kubernetes.io/os", "linux"},
                      {"kubernetes.io/arch", "amd64"},
                      {hollow_label, "true"}};
  if (!zones.empty()) all.set(sync::objects::label_zone, zone_of(node));
  for (const auto& [key, value] : labels) all.set(key, value);
  return all;
}

std::string node_address(NodeId node) {
  constexpr std::uint32_t network = 0xC6120000;  // 198.18.0.0/15
  return address_in(network, (node + 1) % (1U << 17U));
}

std::string pod_address(std::uint32_t number) {
  constexpr std::uint32_t network = 0x64400000;  // 100.64.0.0/10
  return address_in(network, number % (1U << 22U));
}

std::string node_body(const Plan& plan, NodeId node, WallTime now) {
  json::object labels;
  for (const auto& [key, value] : plan.labels_of(node)) labels[key] = value;
  const json::object room{{"cpu", plan.cpu}, {"memory", plan.memory}, {"pods", plan.pods}};
  const json::array addresses{json::object{{"type", "InternalIP"}, {"address", node_address(node)}},
                              json::object{{"type", "Hostname"}, {"address", plan.nodes[node]}}};
  json::object spec;
  if (!plan.taints.empty()) spec["taints"] = sync::wire::encode_taints(plan.taints);
  const json::object status{{"capacity", room},
                            {"allocatable", room},
                            {"conditions", healthy_conditions({}, now)},
                            {"addresses", addresses},
                            {"nodeInfo", node_software()}};
  return sync::wire::serialize(
      json::object{{"apiVersion", "v1"},
                   {"kind", "Node"},
                   {"metadata", json::object{{"name", plan.nodes[node]}, {"labels", labels}}},
                   {"spec", spec},
                   {"status", status}});
}

std::string node_status_patch(const sync::NodeStatus& current, WallTime now) {
  return sync::wire::serialize(
      json::object{{"status", json::object{{"conditions", healthy_conditions(current, now)}}}});
}

std::string lease_body(const LeaseFields& fields, WallTime renewed) {
  json::object metadata{{"name", fields.node}, {"namespace", "kube-node-lease"}};
  if (!fields.version.empty()) metadata["resourceVersion"] = fields.version;
  metadata["ownerReferences"] = json::array{json::object{
      {"apiVersion", "v1"}, {"kind", "Node"}, {"name", fields.node}, {"uid", fields.node_uid}}};
  return sync::wire::serialize(json::object{
      {"apiVersion", "coordination.k8s.io/v1"},
      {"kind", "Lease"},
      {"metadata", metadata},
      {"spec", json::object{{"holderIdentity", fields.node},
                            {"leaseDurationSeconds", fields.duration_seconds},
                            {"renewTime", format_rfc3339(renewed, TimeDigits::micros)}}}});
}

std::string pod_status_patch(const HollowPod& pod, bool succeeded, WallTime now) {
  const WallTime started = pod.started == WallTime() ? now : pod.started;
  json::array init;
  json::array containers;
  for (const PodContainer& each : pod.containers) {
    json::array& into = each.kind == PodContainer::Kind::main ? containers : init;
    into.push_back(container_status(each, succeeded, started, now));
  }
  const auto ready = [succeeded, now](const char* type) {
    return succeeded ? false_condition(type, now) : true_condition(type, now);
  };
  const json::array conditions{
      true_condition("PodReadyToStartContainers", started),
      true_condition("Initialized", started, succeeded ? "PodCompleted" : nullptr), ready("Ready"),
      ready("ContainersReady")};
  const std::string address = pod_address(pod.address);
  json::object status{{"phase", succeeded ? "Succeeded" : "Running"},
                      {"conditions", conditions},
                      {"hostIP", node_address(pod.node)},
                      {"podIP", address},
                      {"podIPs", json::array{json::object{{"ip", address}}}},
                      {"startTime", format_rfc3339(started)},
                      {"containerStatuses", containers}};
  if (!init.empty()) status["initContainerStatuses"] = init;
  return sync::wire::serialize(
      json::object{{"metadata", json::object{{"uid", pod.uid}}}, {"status", status}});
}

std::string bound_pod(const BoundPod& pod) {
  const json::array tolerations{no_execute("node.kubernetes.io/unreachable", pod.patience_seconds),
                                no_execute("node.kubernetes.io/not-ready", pod.patience_seconds)};
  const json::array containers{json::object{{"name", "main"}, {"image", "none"}}};
  const json::object labels{{"zone", pod.zone}};
  return sync::wire::serialize(
      json::object{{"apiVersion", "v1"},
                   {"kind", "Pod"},
                   {"metadata", json::object{{"name", pod.name}, {"labels", labels}}},
                   {"spec", json::object{{"nodeName", pod.node},
                                         {"terminationGracePeriodSeconds", 2},
                                         {"tolerations", tolerations},
                                         {"containers", containers}}}});
}

}  // namespace holdfast::agent::hollow
