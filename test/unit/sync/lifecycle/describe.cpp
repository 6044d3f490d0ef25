#include "test/unit/sync/lifecycle/describe.h"

#include "sync/objects/names.h"

namespace holdfast::sync::lifecycle {
namespace {

std::string text(const UpdateNodeStatus& effect) {
  std::string line = "status " + effect.node;
  for (const NodeCondition& condition : effect.conditions) {
    line += " " + condition.type + "=" + condition.status + "(" + condition.reason + ")";
  }
  return line;
}

std::string text(const PatchTaints& effect) {
  constexpr const char* causes[] = {"conditions", "queued", "swap", "recovered"};
  std::string line = "taint " + effect.node;
  for (const Taint& taint : effect.add) line += " +" + taint.key + ":" + taint.effect;
  for (const TaintRef& taint : effect.remove) line += " -" + taint.key + ":" + taint.effect;
  return line + " " + causes[static_cast<int>(effect.cause)];
}

std::string text(const PatchLabels& effect) {
  std::string line = "label " + effect.node;
  for (const auto& [name, value] : effect.labels) line += " " + name + "=" + value;
  return line;
}

std::string text(const MarkPods& effect) { return "mark pods of " + effect.node; }

std::string text(const EvictPods& effect) {
  return "evict pods of " + effect.node + (effect.queued ? " queued" : " now");
}

std::string text(const MarkPodNotReady& effect) { return "mark " + effect.pod.key(); }
std::string text(const MarkPodLost& effect) { return "lost " + effect.pod.key(); }
std::string text(const MarkPodDisrupted& effect) {
  return (effect.withdrawn ? "stays " : "disrupt ") + effect.pod.key();
}
std::string text(const DeletePod& effect) {
  return std::string(effect.forced ? "force-delete " : "delete ") + effect.pod.key() + " " +
         effect.pod.uid;
}
std::string text(const EvictPod& effect) {
  return "evict " + effect.pod.key() + " " + effect.pod.uid;
}
std::string text(const FailPod& effect) { return "fail " + effect.pod.key(); }
std::string text(const DetachVolumes& effect) { return "detach volumes of " + effect.node.name; }
std::string text(const AskProvider& effect) {
  return "ask for " + effect.node + " " + effect.provider_id;
}
std::string text(const DeleteNode& effect) { return "delete node " + effect.node; }
std::string text(const BindPod& effect) { return "bind " + effect.pod.key(); }

std::string text(const RecordEvent& effect) {
  const std::string kind = effect.kind == EventKind::node ? "Node/" : "Pod/";
  return "event " + kind + effect.about.name + (effect.warning ? " Warning " : " Normal ") +
         effect.reason;
}

std::string text(const WithholdEvictions& effect) {
  return "withhold " + effect.node + (effect.on ? " on" : " off");
}

template <class Variants>
std::vector<std::string> lines_of(const Variants& all) {
  std::vector<std::string> lines;
  for (const auto& each : all) {
    lines.push_back(std::visit([](const auto& one) { return text(one); }, each));
  }
  return lines;
}

}  // namespace

std::vector<std::string> describe(const Effects& effects) { return lines_of(effects); }

std::vector<std::string> describe(const Intents& intents) { return lines_of(intents); }

std::vector<std::string> describe(const std::vector<PatchTaints>& patches) {
  std::vector<std::string> lines;
  for (const PatchTaints& patch : patches) lines.push_back(text(patch));
  return lines;
}

Node make_node(const std::string& name, std::string_view ready, Duration beat) {
  Node node;
  node.metadata.name = name;
  node.metadata.uid = "uid-" + name;
  node.metadata.creation_timestamp = test_epoch;
  if (ready.empty()) return node;
  NodeCondition condition;
  condition.type = objects::condition_ready;
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
  condition.type = objects::condition_ready;
  condition.status = objects::status_true;
  pod.status.conditions.push_back(condition);
  return pod;
}

PodFacts make_pod_facts(const std::string& name, const std::string& node) {
  return facts_of(make_pod(name, node), Options{});
}

}  // namespace holdfast::sync::lifecycle
