#include "agent/lab/sim/progress.h"

#include <algorithm>
#include <utility>

#include "agent/lab/sim/objects.h"
#include "agent/lab/sim/promises.h"

namespace holdfast::agent::lab::sim {
namespace {

// For requests, watches, passes and the looks at them.
constexpr Duration reaction_max = std::chrono::minutes(1);
// For a pod that stops: its grace period, and the answers to its removal.
constexpr Duration stop_max = std::chrono::minutes(3);

bool runs(const sync::runtime::ObservedPod& pod) {
  return std::any_of(pod.begin(), pod.end(), [](const auto& container) {
    return !container.second.empty() &&
           container.second.back().state == sync::runtime::AttemptState::running;
  });
}

}  // namespace

void Progress::control_plane_is(bool works) {
  works_ = works;
  works_since_ = parts_.engine.now();
}

void Progress::wrong(const std::string& invariant, const std::string& key, Duration bound) {
  const std::string text = invariant + ": " + key;
  const auto known = since_.find(text);
  const MonoTime since = known == since_.end() ? parts_.engine.now() : known->second;
  wrong_[text] = since;
  const Duration lasts = parts_.engine.now() - since;
  if (lasts <= bound) return;
  parts_.engine.violate(invariant, key + " for " + format_duration(lasts));
}

void Progress::look(bool is_calm) {
  const Duration settled = 2 * parts_.rules.monitor_grace + std::chrono::seconds(30);
  if (works_ && parts_.engine.now() - works_since_ > settled) look_at_controller();
  if (is_calm) look_at_calm();
  since_ = std::exchange(wrong_, {});
}

// ----------------------------------------------------------------------------------- controller

void Progress::look_at_controller() {
  for (const auto& [name, node] : parts_.server.nodes()) look_at_node(*node);
  for (const auto& node : parts_.nodes) {
    const NodePtr object = parts_.server.node(node->name());
    if (!object || node->kubelet().is_running() || ready_status(*object) != "True") continue;
    // An agent that starts takes its kubelet for alive, so the bound counts from there, too.
    const Duration started = node->agent_started() - Engine::start;
    // A controller whose watch of leases is silent learns of the last renewal when it wants to
    // judge the node, and gives it another grace period.
    const int graces = parts_.server.has(ApiFault::silent_watch) ? 2 : 1;
    wrong("a node without kubelet is not Ready",
          node->name() + ", its agent on since " + format_duration(started),
          parts_.kubelet_grace + graces * parts_.rules.monitor_grace + reaction_max);
  }
  for (const auto& [key, pod] : parts_.server.pods()) {
    const NodePtr node = parts_.server.node(pod->spec.node_name);
    const bool goes = pod->metadata.deletion_timestamp || has_ended(*pod);
    if (node && !goes && !has_limited_autonomy(*node)) look_at_pod(*pod, *node);
  }
}

void Progress::look_at_node(const sync::Node& node) {
  const std::string& name = node.metadata.name;
  const bool ready = ready_status(node) == "True";
  const MonoTime contact = parts_.facts.last_contact(name);
  const bool is_silent =
      contact != MonoTime::min() && parts_.engine.now() - contact > parts_.rules.monitor_grace;
  if (is_silent && ready) {
    // A controller whose watch of leases is silent learns of the last renewal only now.
    wrong("a silent node becomes Unknown", name + " is silent and Ready",
          parts_.rules.monitor_grace + reaction_max);
  }
  if (ready != !has_own_taint(node, "NoSchedule")) {
    wrong("a node that is not ready takes no pods, and one that is does",
          name + (ready ? " is Ready with" : " is not Ready without") + " NoSchedule taint",
          reaction_max);
  }
  if (ready && has_own_taint(node, "NoExecute")) {
    wrong("a node that is ready loses its taint", name + " is Ready and tainted", reaction_max);
  }
  if (ready_status(node) != "True" && has_own_taint(node, "NoExecute") && !any_is_ready()) {
    wrong("no node stays tainted while none is ready", name, reaction_max);
  }
  if (must_be_tainted(node)) {
    wrong("a node that is not ready is tainted", name + " is not tainted",
          turn(node) + reaction_max);
  }
}

bool Progress::any_is_ready() const {
  const auto& nodes = parts_.server.nodes();
  return std::any_of(nodes.begin(), nodes.end(),
                     [](const auto& each) { return ready_status(*each.second) == "True"; });
}

// How long its turn may take at the configured rate.
Duration Progress::turn(const sync::Node& node) const {
  int waiting = 0;
  for (const auto& [name, other] : parts_.server.nodes()) {
    waiting += zone_of(*other) == zone_of(node) ? 1 : 0;
  }
  const double seconds = waiting / static_cast<double>(parts_.rules.eviction_rate);
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

bool Progress::must_be_tainted(const sync::Node& node) const {
  const bool is_left = ready_status(node) == "True" || has_own_taint(node, "NoExecute") ||
                       is_withheld(node, parts_.rules) || has_limited_autonomy(node);
  if (is_left || !parts_.rules.taint_based_evictions || parts_.rules.eviction_rate <= 0) {
    return false;
  }
  int unready = 0;
  bool zone_answers = false;
  bool any_answers = false;
  for (const auto& [name, other] : parts_.server.nodes()) {
    const bool ready = ready_status(*other) == "True";
    const bool same = zone_of(*other) == zone_of(node);
    unready += same && !ready ? 1 : 0;
    zone_answers = zone_answers || (same && ready);
    any_answers = any_answers || ready;
  }
  // When all are silent nobody is tainted, and in a zone in which many are, perhaps nobody.
  return any_answers && (unready <= 2 || !zone_answers);
}

void Progress::look_at_pod(const sync::Pod& pod, const sync::Node& node) {
  const std::string on = key_of(pod) + " on " + node.metadata.name;
  if (ready_status(node) == "Unknown" && is_ready(pod) && !keeps_pods_ready(node, parts_.rules)) {
    // A node that is returning may report its pods first, and be lost again before its own status.
    const std::string& name = node.metadata.name;
    const MonoTime known = std::max(parts_.facts.last_contact(name), parts_.facts.last_pod(name));
    const bool is_silent = parts_.engine.now() - known > parts_.rules.monitor_grace;
    if (is_silent) {
      // When other nodes return after all were silent, the grace period of this one begins again.
      wrong("pods of a silent node are not Ready", on, parts_.rules.monitor_grace + reaction_max);
    }
  }
  if (is_withheld(node, parts_.rules) || !parts_.rules.taint_based_evictions) return;
  const Duration stay = stay_of(pod, node);
  if (stay == Duration::max()) return;
  const bool asks = parts_.rules.eviction_mode == sync::lifecycle::EvictionMode::evict;
  const Duration budget = asks ? parts_.rules.eviction_deadline : Duration::zero();
  wrong("a pod is evicted after its toleration", on, stay + budget + reaction_max);
}

// ----------------------------------------------------------------------------------------- calm

void Progress::look_at_calm() {
  for (const auto& [key, pod] : parts_.server.pods()) look_at_calm_pod(*pod);
  for (const auto& node : parts_.nodes) {
    if (!node->has_settled()) wrong("a node connects again", node->name(), reaction_max);
    look_at_containers(*node);
  }
}

void Progress::look_at_calm_pod(const sync::Pod& pod) {
  const std::string key = key_of(pod) + " (" + pod.metadata.uid + ")";
  if (pod.spec.node_name.empty()) return wrong("a pod is placed", key, reaction_max);
  if (pod.metadata.deletion_timestamp) return wrong("a deleted pod goes", key, stop_max);
}

void Progress::look_at_containers(const SimNode& node) {
  const auto& observed = node.kubelet().containers().observed();
  for (const auto& [uid, pod] : observed) {
    if (!runs(pod)) continue;
    const auto pods = parts_.server.pods_of(node.name());
    const bool wanted = std::any_of(
        pods.begin(), pods.end(), [&uid](const PodPtr& each) { return each->metadata.uid == uid; });
    if (!wanted) wrong("what runs is in the API", uid + " on " + node.name(), stop_max);
  }
  for (const PodPtr& pod : parts_.server.pods_of(node.name())) {
    const auto found = observed.find(pod->metadata.uid);
    const bool is_running = found != observed.end() && runs(found->second);
    if (is_running == is_ready(*pod) || pod->metadata.deletion_timestamp) continue;
    wrong("the API shows what runs",
          key_of(*pod) + (is_running ? " runs and is not Ready" : " is Ready and does not run"),
          reaction_max);
  }
}

}  // namespace holdfast::agent::lab::sim
