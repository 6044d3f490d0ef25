#include "agent/lab/sim/objects.h"

#include <algorithm>
#include <array>
#include <utility>

#include "agent/lab/scenario/describe.h"
#include "platform/check.h"
#include "sync/objects/names.h"

namespace holdfast::agent::lab::sim {
namespace {

struct ConditionText {
  std::string_view type;
  std::string_view status;
  std::string_view reason;
  std::string_view message;
};

// As kubelet 1.36 posts them.
constexpr std::array conditions{
    ConditionText{"MemoryPressure", "False", "KubeletHasSufficientMemory",
                  "kubelet has sufficient memory available"},
    ConditionText{"DiskPressure", "False", "KubeletHasNoDiskPressure",
                  "kubelet has no disk pressure"},
    ConditionText{"PIDPressure", "False", "KubeletHasSufficientPID",
                  "kubelet has sufficient PID available"},
    ConditionText{"Ready", "True", "KubeletReady", "kubelet is posting ready status"}};

sync::Toleration toleration_of(const Toleration& from) {
  sync::Toleration made;
  made.key = from.key;
  made.operator_name = from.op;
  made.value = from.value;
  made.effect = from.effect;
  made.toleration_seconds = from.seconds;
  return made;
}

sync::Toleration tolerates(std::string_view key, std::string_view effect,
                           std::optional<std::int64_t> seconds = {}) {
  sync::Toleration made;
  made.key = key;
  made.operator_name = "Exists";
  made.effect = effect;
  made.toleration_seconds = seconds;
  return made;
}

// What the admission plugin DefaultTolerationSeconds adds, and what the DaemonSet controller does.
void add_tolerations(const Workload& workload, std::vector<sync::Toleration>& tolerations) {
  const bool of_daemon_set = workload.kind == WorkloadKind::daemon_set;
  const auto seconds = of_daemon_set ? std::nullopt : std::optional<std::int64_t>(300);
  for (const std::string_view key :
       {sync::objects::taint_not_ready, sync::objects::taint_unreachable}) {
    const bool has = std::any_of(tolerations.begin(), tolerations.end(), [key](const auto& each) {
      return (each.key.empty() || each.key == key) &&
             (each.effect.empty() || each.effect == "NoExecute");
    });
    if (!has) tolerations.push_back(tolerates(key, "NoExecute", seconds));
  }
  if (!of_daemon_set) return;
  for (const std::string_view key :
       {"node.kubernetes.io/disk-pressure", "node.kubernetes.io/memory-pressure",
        "node.kubernetes.io/pid-pressure", "node.kubernetes.io/unschedulable"}) {
    tolerations.push_back(tolerates(key, "NoSchedule"));
  }
}

}  // namespace

std::string node_name(const Site& site, int number) {
  return site.name + "-" + std::to_string(number);
}

sync::Node make_node(const Site& site, const std::string& name) {
  sync::Node node;
  node.metadata.name = name;
  node.metadata.labels.set("kubernetes.io/hostname", name);
  node.metadata.labels.set(site_label, site.name);
  node.metadata.labels.set("topology.kubernetes.io/zone",
                           site.zone.empty() ? site.name : site.zone);
  for (const auto& [key, value] : site.labels) node.metadata.labels.set(key, value);
  for (const auto& [key, value] : site.annotations) node.metadata.annotations.set(key, value);
  for (const Taint& taint : site.taints) {
    sync::Taint added;
    added.key = taint.key;
    added.value = taint.value;
    added.effect = taint.effect;
    node.spec.taints.push_back(std::move(added));
  }
  return node;
}

sync::NodeStatus healthy_status(const Site& site, const sync::NodeStatus& before, WallTime now) {
  sync::NodeStatus status = before;
  status.capacity.set("cpu", site.cpu);
  status.capacity.set("memory", site.memory);
  status.capacity.set("pods", std::to_string(site.pods));
  status.allocatable = status.capacity;
  const WallTime second = std::chrono::floor<std::chrono::seconds>(now);
  for (const ConditionText& text : conditions) {
    auto found = std::find_if(status.conditions.begin(), status.conditions.end(),
                              [&text](const auto& each) { return each.type == text.type; });
    if (found == status.conditions.end()) {
      found = status.conditions.insert(found, sync::NodeCondition{});
      found->type = text.type;
    }
    if (found->status != text.status) found->last_transition_time = second;
    found->status = text.status;
    found->reason = text.reason;
    found->message = text.message;
    found->last_heartbeat_time = second;
  }
  return status;
}

std::string title_of(const Workload& workload) {
  switch (workload.kind) {
    case WorkloadKind::deployment:
      return "deployment/" + workload.name;
    case WorkloadKind::daemon_set:
      return "daemonset/" + workload.name;
    case WorkloadKind::stateful_set:
      return "statefulset/" + workload.name;
    case WorkloadKind::job:
      return "job/" + workload.name;
  }
  UNREACHABLE();
}

sync::Pod make_pod(const Workload& workload, const std::string& name, int revision) {
  sync::Pod pod;
  pod.metadata.name = name;
  pod.metadata.namespace_name = workload.namespace_name;
  pod.metadata.labels.set(workload_label, workload.name);
  pod.metadata.labels.set(revision_label, std::to_string(revision));
  sync::OwnerReference owner;
  owner.api_version = workload.kind == WorkloadKind::job ? "batch/v1" : "apps/v1";
  owner.kind = owner_kind(workload.kind);
  owner.name = workload.name;
  owner.uid = "uid-of-" + workload.name;
  owner.controller = true;
  pod.metadata.owner_references.push_back(std::move(owner));
  sync::Container container;
  container.name = "main";
  container.command = {"main"};
  if (!workload.cpu.empty()) container.resources.requests.set("cpu", workload.cpu);
  if (!workload.memory.empty()) container.resources.requests.set("memory", workload.memory);
  pod.spec.containers.push_back(std::move(container));
  pod.spec.restart_policy = workload.kind == WorkloadKind::job ? "OnFailure" : "Always";
  pod.spec.scheduler_name = "default-scheduler";
  pod.spec.termination_grace_period_seconds =
      std::chrono::duration_cast<std::chrono::seconds>(workload.grace).count();
  pod.spec.priority = workload.priority;
  if (!workload.on.empty()) pod.spec.node_selector.set(site_label, workload.on);
  for (const Toleration& each : workload.tolerations) {
    pod.spec.tolerations.push_back(toleration_of(each));
  }
  add_tolerations(workload, pod.spec.tolerations);
  return pod;
}

std::string_view ready_status(const sync::Node& node) {
  const auto* ready = sync::find_condition(node.status, sync::objects::condition_ready);
  return ready == nullptr ? std::string_view() : std::string_view(ready->status);
}

bool is_ready(const sync::Pod& pod) {
  const auto* ready = sync::find_condition(pod.status, sync::objects::condition_ready);
  return ready != nullptr && ready->status == sync::objects::status_true;
}

}  // namespace holdfast::agent::lab::sim
