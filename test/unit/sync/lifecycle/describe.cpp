#include "test/unit/sync/lifecycle/describe.h"

#include "sync/lifecycle/names.h"

namespace holdfast::sync::lifecycle {
namespace {

std::string text(const UpdateNodeStatus& action) {
  std::string line = "status " + action.node;
  for (const NodeCondition& condition : action.conditions) {
    line += " " + condition.type + "=" + condition.status + "(" + condition.reason + ")";
  }
  return line;
}

std::string text(const PatchTaints& action) {
  constexpr const char* causes[] = {"conditions", "queued", "swap", "recovered"};
  std::string line = "taint " + action.node;
  for (const Taint& taint : action.add) line += " +" + taint.key + ":" + taint.effect;
  for (const TaintRef& taint : action.remove) line += " -" + taint.key + ":" + taint.effect;
  return line + " " + causes[static_cast<int>(action.cause)];
}

std::string text(const PatchLabels& action) {
  std::string line = "label " + action.node;
  for (const auto& [name, value] : action.labels) line += " " + name + "=" + value;
  return line;
}

std::string text(const MarkPods& action) { return "mark pods of " + action.node; }

std::string text(const EvictPods& action) {
  return "evict pods of " + action.node + (action.queued ? " queued" : " now");
}

std::string text(const MarkPodNotReady& action) { return "mark " + action.pod.key(); }
std::string text(const MarkPodLost& action) { return "lost " + action.pod.key(); }
std::string text(const MarkPodDisrupted& action) { return "disrupt " + action.pod.key(); }
std::string text(const DeletePod& action) {
  return std::string(action.forced ? "force-delete " : "delete ") + action.pod.key() + " " +
         action.pod.uid;
}
std::string text(const EvictPod& action) {
  return "evict " + action.pod.key() + " " + action.pod.uid;
}
std::string text(const FailPod& action) { return "fail " + action.pod.key(); }
std::string text(const DetachVolumes& action) { return "detach volumes of " + action.node; }
std::string text(const AskProvider& action) {
  return "ask for " + action.node + " " + action.provider_id;
}
std::string text(const DeleteNode& action) { return "delete node " + action.node; }
std::string text(const BindPod& action) { return "bind " + action.pod.key(); }

std::string text(const RecordEvent& action) {
  const std::string kind = action.kind == EventKind::node ? "Node/" : "Pod/";
  return "event " + kind + action.about.name + (action.warning ? " Warning " : " Normal ") +
         action.reason;
}

std::string text(const WithholdEvictions& action) {
  return "withhold " + action.node + (action.on ? " on" : " off");
}

}  // namespace

std::vector<std::string> describe(const Actions& actions) {
  std::vector<std::string> lines;
  for (const Action& action : actions) {
    lines.push_back(std::visit([](const auto& one) { return text(one); }, action));
  }
  return lines;
}

Node make_node(const std::string& name, std::string_view ready, Duration beat) {
  Node node;
  node.metadata.name = name;
  node.metadata.uid = "uid-" + name;
  node.metadata.creation_timestamp = test_epoch;
  if (ready.empty()) return node;
  NodeCondition condition;
  condition.type = condition_ready;
  condition.status = ready;
  condition.last_heartbeat_time = test_epoch + beat;
  condition.last_transition_time = test_epoch + beat;
  node.status.conditions.push_back(condition);
  return node;
}

NodeFacts make_facts(const std::string& name, std::string_view ready, Duration beat) {
  return facts_of(make_node(name, ready, beat), Options{});
}

Pod make_pod(const std::string& name, const std::string& node) {
  Pod pod;
  pod.metadata.namespace_name = "default";
  pod.metadata.name = name;
  pod.metadata.uid = "uid-" + name;
  pod.spec.node_name = node;
  PodCondition condition;
  condition.type = condition_ready;
  condition.status = status_true;
  pod.status.conditions.push_back(condition);
  return pod;
}

PodFacts make_pod_facts(const std::string& name, const std::string& node) {
  return facts_of(make_pod(name, node), Options{});
}

Taint make_no_execute(const std::string& key) {
  Taint taint;
  taint.key = key;
  taint.effect = no_execute;
  return taint;
}

Toleration make_toleration(const std::string& key, std::optional<std::int64_t> seconds) {
  Toleration toleration;
  toleration.key = key;
  toleration.operator_name = "Exists";
  toleration.effect = no_execute;
  toleration.toleration_seconds = seconds;
  return toleration;
}

}  // namespace holdfast::sync::lifecycle
