// The invariants of pods.

#include <algorithm>
#include <utility>

#include "agent/lab/sim/invariants.h"
#include "agent/lab/sim/objects.h"
#include "agent/lab/sim/promises.h"

namespace holdfast::agent::lab::sim {
namespace {

// What requests under way may take: their deadline, and a watch that lags.
constexpr Duration in_flight = std::chrono::seconds(12);

}  // namespace

void Invariants::observe_pod(const Change& change) {
  const sync::Pod& pod = *change.pod;
  const std::string& uid = pod.metadata.uid;
  if (change.type == ChangeType::added) names_[uid] = key_of(pod);
  const auto& owners = pod.metadata.owner_references;
  if (!owners.empty() && owners.front().kind == "StatefulSet") ordinals_.insert(uid);
  const bool was_deleted = change.pod_before && change.pod_before->metadata.deletion_timestamp;
  const bool is_deleted =
      change.type == ChangeType::deleted || pod.metadata.deletion_timestamp.has_value();
  if (is_deleted && !was_deleted && change.by == Actor::lifecycle) check_eviction(pod);
  if (is_deleted || has_ended(pod)) may_stop_.insert(uid);
  if (change.type == ChangeType::deleted) {
    check_removal(change);
  } else if (change.pod_before) {
    check_status(change);
    check_binding(change);
  }
}

// A node removes a pod for good only after it was deleted or had ended, and when nothing of it
// runs.
void Invariants::check_removal(const Change& change) {
  const bool by_node = change.by == Actor::kubelet || change.by == Actor::edge;
  const sync::Pod& before = *change.pod_before;
  if (!by_node) return;
  const bool may_go = before.metadata.deletion_timestamp || has_ended(before);
  if (may_go && !alive_.contains(before.metadata.uid)) return;
  engine_.violate("only a stopped pod is removed for good",
                  key_of(before) + (may_go ? " still runs" : " was not deleted"));
}

void Invariants::check_status(const Change& change) {
  const sync::Pod& pod = *change.pod;
  const sync::Pod& before = *change.pod_before;
  if (has_ended(before) && !has_ended(pod)) {
    engine_.violate("a pod that has ended stays so", key_of(pod) + " is " + pod.status.phase);
  }
  const bool by_node = change.by == Actor::kubelet || change.by == Actor::edge;
  const auto node = nodes_.find(pod.spec.node_name);
  if (by_node && is_ready(pod) && !is_ready(before)) {
    if (node != nodes_.end()) node->second.pod = engine_.now();
    if (!ran_.contains(pod.metadata.uid)) {
      engine_.violate("a pod is reported as ready only after it ran",
                      key_of(pod) + " (" + pod.metadata.uid + ")");
    }
  }
  if (change.by != Actor::lifecycle || !is_ready(before) || is_ready(pod)) return;
  if (node == nodes_.end() || !node->second.last || !keeps_pods_ready(*node->second.last, rules_))
    return;
  engine_.violate("pods of an autonomous node stay Ready",
                  key_of(pod) + " on " + pod.spec.node_name);
}

// The scheduler may learn a little later that a node is closed.
void Invariants::check_binding(const Change& change) {
  const sync::Pod& pod = *change.pod;
  const bool bound = change.pod_before->spec.node_name.empty() && !pod.spec.node_name.empty();
  const auto node = nodes_.find(pod.spec.node_name);
  if (!bound || node == nodes_.end() || node->second.closed_since == MonoTime::max()) return;
  if (engine_.now() - node->second.closed_since < slack) return;
  const sync::Node& chosen = *node->second.last;
  const bool refuses =
      std::any_of(chosen.spec.taints.begin(), chosen.spec.taints.end(), [&pod](const auto& taint) {
        return taint.effect != "PreferNoSchedule" && !stay_of(pod, taint);
      });
  if (!refuses && !chosen.spec.unschedulable) return;
  engine_.violate("pods are bound to open nodes only", key_of(pod) + " to " + pod.spec.node_name);
}

void Invariants::check_eviction(const sync::Pod& pod) {
  const auto node = nodes_.find(pod.spec.node_name);
  if (node == nodes_.end() || !node->second.last) return;  // Its node is gone.
  if (is_withheld(*node->second.last, rules_)) {
    engine_.violate("no pod of an autonomous node is evicted",
                    key_of(pod) + " on " + pod.spec.node_name);
  }
  if (may_evict(pod, node->second)) return;
  std::string taints;
  for (const sync::Taint& taint : node->second.last->spec.taints) {
    taints += " " + taint.key + ":" + taint.effect;
    if (taint.time_added) taints += " since " + format_rfc3339(*taint.time_added);
  }
  engine_.violate("only pods of tainted nodes are evicted",
                  key_of(pod) + " on " + pod.spec.node_name + ", taints:" + taints);
}

// Whether the node has, or had until a moment ago, a NoExecute taint that the pod does not tolerate
// any more.
bool Invariants::may_evict(const sync::Pod& pod, const NodeFacts& facts) const {
  if (!rules_.taint_based_evictions) return true;
  if (facts.tainted_until == MonoTime::min()) return false;
  if (facts.tainted_until != MonoTime::max())
    return engine_.now() - facts.tainted_until < in_flight;
  for (const sync::Taint& taint : facts.last->spec.taints) {
    if (taint.effect != "NoExecute") continue;
    const auto stay = stay_of(pod, taint);
    if (!stay) return true;
    if (*stay == Duration::max() || !taint.time_added) continue;
    if (engine_.wall() - *taint.time_added + slack >= *stay) return true;
  }
  return false;
}

void Invariants::container_is(const std::string& node, const std::string& pod_uid,
                              std::string_view state, int restarts) {
  if (state == "starting") check_ordinal(pod_uid, true);
  if (state == "stopped") check_ordinal(pod_uid, false);
  if (state == "ready") ran_.insert(pod_uid);
  if (state == "stopped") {
    alive_.erase(pod_uid);
  } else {
    alive_.insert(pod_uid);
  }
  next_.container_is(node, pod_uid, state, restarts);
}

void Invariants::check_ordinal(const std::string& uid, bool runs) {
  if (!ordinals_.contains(uid)) return;
  const std::string& name = names_.at(uid);
  std::set<std::string>& running = running_[name];
  if (!runs) {
    running.erase(uid);
    return;
  }
  running.insert(uid);
  if (running.size() < 2) return;
  engine_.violate("an ordinal of a StatefulSet runs once", name + " runs twice");
}

void Invariants::pod_stops(const std::string& node, const std::string& pod_uid,
                           std::string_view why) {
  const bool by_itself = why == "completed" || why == "deadline" || why == "no record";
  if (!by_itself && !may_stop_.contains(pod_uid)) {
    engine_.violate("no pod is stopped that was not deleted",
                    names_[pod_uid] + " (" + pod_uid + ") on " + node + ": " + std::string(why));
  }
  next_.pod_stops(node, pod_uid, why);
}

}  // namespace holdfast::agent::lab::sim
