#include "sync/lifecycle/controller.h"

#include <algorithm>
#include <utility>

#include "sync/lifecycle/labels.h"
#include "sync/lifecycle/pod_marking.h"
#include "sync/lifecycle/taints.h"

namespace holdfast::sync::lifecycle {
namespace {

Options with_parts(Options options, const Parts& parts) {
  options.bind_pods = parts.pod_binding;
  return options;
}

// The pod of an action of a direct eviction, and of some others.
const PodRef* pod_of(const Action& action) {
  if (const auto* lost = std::get_if<MarkPodLost>(&action)) return &lost->pod;
  const auto* deletion = std::get_if<DeletePod>(&action);
  return deletion != nullptr && !deletion->forced ? &deletion->pod : nullptr;
}

}  // namespace

Controller::Controller(const Options& options, const Parts& parts)
    : options_(with_parts(options, parts)),
      parts_(parts),
      fleet_(options_),
      eviction_(options_),
      out_of_service_(options_) {
  // Without taints there is nothing to evict by them.
  if (!options_.taint_based_evictions) parts_.taint_eviction = false;
}

Actions Controller::set_node(MonoTime now, WallTime wall, const Node& node) {
  NodeFacts facts = facts_of(node, options_);
  const std::string name = facts.name;
  Actions actions;
  fleet_.set_node(now, wall, std::move(facts));
  const NodeFacts& known = *fleet_.node(name);
  if (parts_.pod_binding && binder_.set_node(known)) bind_pods(known, actions);
  if (parts_.taint_eviction) {
    const auto pods = pods_.on_node(name);
    const bool held = fleet_.withholds_evictions(now, name);
    append(actions, eviction_.withhold(now, wall, name, held, pods));
    append(actions, eviction_.set_node(now, wall, known, pods));
    // Before the node was known to it, the first call could not take effect.
    append(actions, eviction_.withhold(now, wall, name, held, pods));
  }
  if (!parts_.node_lifecycle) return actions;
  if (options_.out_of_service) out_of_service_.set_node(known);
  if (options_.ask_provider) provider_check_.set_node(now, known);
  reconcile_watched(wall, known, actions);
  const StringMap labels = labels_to_set(node.metadata.labels);
  label_retries_.erase(name);
  if (!labels.empty()) actions.emplace_back(PatchLabels{name, labels});
  return actions;
}

Actions Controller::remove_node(const std::string& name) {
  fleet_.remove_node(name);
  eviction_.remove_node(name);
  out_of_service_.remove_node(name);
  provider_check_.remove_node(name);
  binder_.remove_node(name);
  reconciling_.erase(name);
  written_versions_.erase(name);
  label_retries_.erase(name);
  taint_retries_.erase(name);
  return {};
}

Actions Controller::set_pod(MonoTime now, WallTime wall, const Pod& pod) {
  const PodFacts facts = facts_of(pod, options_);
  const auto before = pods_.set(facts);
  Actions actions;
  if (parts_.taint_eviction) {
    append(actions, eviction_.set_pod(now, wall, before ? &*before : nullptr, facts));
  }
  const NodeFacts* node = parts_.pod_binding ? fleet_.node(facts.node) : nullptr;
  if (node != nullptr) binder_.consider(*node, facts, actions);
  const bool assigned =
      !facts.node.empty() && (!before || before->node != facts.node || before->uid != facts.uid);
  if (assigned && parts_.node_lifecycle) assign_pod(now, wall, facts, actions);
  return actions;
}

Actions Controller::remove_pod(const std::string& namespace_name, const std::string& name) {
  const auto before = pods_.remove(namespace_name + "/" + name);
  if (!before || !parts_.taint_eviction) return {};
  return eviction_.remove_pod(*before);
}

void Controller::set_lease(MonoTime now, const Lease& lease) {
  if (!lease.spec.renew_time || !options_.node_leases) return;
  fleet_.set_lease(now, lease.metadata.name, *lease.spec.renew_time);
}

void Controller::remove_lease(const std::string& name) { fleet_.remove_lease(name); }

void Controller::set_daemon_set(const DaemonSet& set) {
  daemon_sets_[set.metadata.namespace_name + "/" + set.metadata.name] = set;
}

void Controller::remove_daemon_set(const std::string& namespace_name, const std::string& name) {
  daemon_sets_.erase(namespace_name + "/" + name);
}

Actions Controller::tick(MonoTime now, WallTime wall) {
  Actions actions;
  if (has_passes() && now >= next_pass_) {
    next_pass_ = now + options_.monitor_period;
    ++passes_;
    if (parts_.node_lifecycle) pass(now, wall, actions);
    if (parts_.pod_binding) bind_doubtful(actions);
  }
  const bool spared = now < spared_until_;
  if (parts_.node_lifecycle && !spared) append(actions, fleet_.drain(now, wall));
  if (parts_.taint_eviction && !spared) append(actions, eviction_.fire(now, wall));
  return take_apart(now, wall, std::move(actions));
}

MonoTime Controller::next() const {
  MonoTime next = MonoTime::max();
  if (parts_.node_lifecycle) next = fleet_.next_drain();
  if (parts_.taint_eviction) next = std::min(next, eviction_.next());
  next = std::max(next, spared_until_);
  return has_passes() ? std::min(next, next_pass_) : next;
}

void Controller::pass(MonoTime now, WallTime wall, Actions& actions) {
  append(actions, fleet_.pass(now, wall));
  for (const std::string& name : std::exchange(taint_retries_, {})) {
    written_versions_.erase(name);
    if (const NodeFacts* node = fleet_.node(name)) reconcile(wall, *node, actions);
  }
  for (auto& [name, patch] : std::exchange(label_retries_, {})) actions.emplace_back(patch);
  if (now < spared_until_) return;
  append(actions, out_of_service_.pass(pods_));
  append(actions, provider_check_.pass(now));
}

void Controller::bind_pods(const NodeFacts& node, Actions& actions) {
  for (const PodFacts* pod : pods_.on_node(node.name)) binder_.consider(node, *pod, actions);
}

void Controller::bind_doubtful(Actions& actions) {
  for (const std::string& key : binder_.take_doubtful()) {
    const PodFacts* pod = pods_.find(key);
    const NodeFacts* node = pod == nullptr ? nullptr : fleet_.node(pod->node);
    if (node != nullptr) binder_.consider(*node, *pod, actions);
  }
}

bool Controller::is_moot(const Action& action) const {
  const PodRef* pod = nullptr;
  if (const auto* mark = std::get_if<MarkPodDisrupted>(&action)) pod = &mark->pod;
  if (const auto* eviction = std::get_if<EvictPod>(&action)) pod = &eviction->pod;
  const auto* deletion = std::get_if<DeletePod>(&action);
  if (deletion != nullptr && !deletion->forced) pod = &deletion->pod;
  if (pod == nullptr) return false;
  const PodFacts* known = pods_.find(pod->key());
  return known != nullptr && known->uid == pod->uid && known->terminating;
}

void Controller::forgive(MonoTime now) {
  fleet_.forgive(now);
  spared_until_ = now + options_.monitor_grace;
}

Actions Controller::settle(MonoTime now, WallTime wall, const Action& action,
                           const Outcome& outcome) {
  Actions actions;
  if (const auto* patch = std::get_if<PatchTaints>(&action)) {
    settle_taints(now, wall, *patch, outcome, actions);
  } else if (const auto* labels = std::get_if<PatchLabels>(&action)) {
    const bool there = fleet_.node(labels->node) != nullptr;
    if (!outcome.ok() && there) label_retries_[labels->node] = *labels;
  } else if (const auto* marking = std::get_if<MarkPodNotReady>(&action)) {
    append(actions, after_marking(*marking, outcome));
    const PodFacts* pod = pods_.find(marking->pod.key());
    if (marking_failed(outcome) && pod != nullptr) fleet_.pods_left_unmarked(pod->node);
  } else if (const std::string* node = evicting_node(action)) {
    const std::string name = *node;
    run_of_.erase(pod_of(action)->key());
    runs_.at(name).eviction.settle(outcome);
    go_on(now, wall, name, actions);
  } else if (!binder_.settle(action)) {
    settle_others(now, wall, action, outcome, actions);
  }
  return take_apart(now, wall, std::move(actions));
}

void Controller::settle_others(MonoTime now, WallTime wall, const Action& action,
                               const Outcome& outcome, Actions& actions) {
  append(actions, fleet_.settle(now, wall, action, outcome));
  append(actions, eviction_.settle(now, action, outcome));
  append(actions, out_of_service_.settle(action, outcome));
  append(actions, provider_check_.settle(now, action, outcome));
  // The NoSchedule taint follows the status at once. Waiting for the watch to deliver the status
  // would put it behind the status writes of all other nodes.
  const auto* update = std::get_if<UpdateNodeStatus>(&action);
  if (update == nullptr || !outcome.ok() || !parts_.node_lifecycle) return;
  const NodeFacts* node = fleet_.node(update->node);
  if (node != nullptr && node->uid == update->uid) reconcile(wall, *node, actions);
}

void Controller::settle_taints(MonoTime now, WallTime wall, const PatchTaints& patch,
                               const Outcome& outcome, Actions& actions) {
  if (patch.cause != TaintCause::conditions) {
    append(actions, fleet_.settle(now, wall, patch, outcome));
    return;
  }
  const auto found = reconciling_.find(patch.node);
  if (found == reconciling_.end()) return;
  if (!outcome.ok()) taint_retries_.insert(patch.node);
  const NodeFacts* node = fleet_.node(patch.node);
  // What we wrote may be newer than what the watch has delivered so far.
  const bool newer = outcome.node && node != nullptr && outcome.node->uid == node->uid &&
                     is_older_version(node->resource_version, outcome.node->resource_version);
  if (newer) written_versions_[patch.node] = outcome.node->resource_version;
  if (--found->second.under_way > 0) return;
  const bool again = found->second.again;
  reconciling_.erase(found);
  if (again && node != nullptr) reconcile(wall, newer ? *outcome.node : *node, actions);
}

// As reconcile(), for a node that the watch has delivered. One that is older than our own write
// lacks that write; the newer one follows. In case it does not, the next pass looks again.
void Controller::reconcile_watched(WallTime wall, const NodeFacts& node, Actions& actions) {
  const auto written = written_versions_.find(node.name);
  if (written == written_versions_.end()) {
    reconcile(wall, node, actions);
  } else if (is_older_version(node.resource_version, written->second)) {
    taint_retries_.insert(node.name);
  } else {
    written_versions_.erase(written);
    reconcile(wall, node, actions);
  }
}

void Controller::reconcile(WallTime wall, const NodeFacts& node, Actions& actions) {
  if (!options_.taint_by_condition) return;
  const auto busy = reconciling_.find(node.name);
  if (busy != reconciling_.end()) {
    busy->second.again = true;
    return;
  }
  Actions patches = reconcile_no_schedule(wall, node, options_);
  if (patches.empty()) return;
  reconciling_[node.name].under_way = static_cast<int>(patches.size());
  append(actions, std::move(patches));
}

Actions Controller::take_apart(MonoTime now, WallTime wall, Actions actions) {
  Actions parts;
  for (Action& action : actions) {
    if (const auto* marking = std::get_if<MarkPods>(&action)) {
      for (auto& one : pods_to_mark(pods_.on_node(marking->node), wall)) parts.emplace_back(one);
    } else if (const auto* eviction = std::get_if<EvictPods>(&action)) {
      evict_pods(now, wall, *eviction, pods_.on_node(eviction->node), parts);
    } else if (const auto* held = std::get_if<WithholdEvictions>(&action)) {
      if (!parts_.taint_eviction) continue;
      const auto pods = pods_.on_node(held->node);
      append(parts, eviction_.withhold(now, wall, held->node, held->on, pods));
    } else {
      parts.push_back(std::move(action));
    }
  }
  return parts;
}

void Controller::assign_pod(MonoTime now, WallTime wall, const PodFacts& pod, Actions& actions) {
  const PodDuty duty = fleet_.pod_assigned(now, pod.node);
  const std::vector<const PodFacts*> pods{&pod};
  if (duty.evict) evict_pods(now, wall, EvictPods{pod.node, false}, pods, actions);
  if (!duty.mark) return;
  for (auto& marking : pods_to_mark(pods, wall)) actions.emplace_back(marking);
}

void Controller::evict_pods(MonoTime now, WallTime wall, const EvictPods& eviction,
                            const std::vector<const PodFacts*>& pods, Actions& actions) {
  // One run at a time for a node. What comes meanwhile is found by the next pass.
  if (runs_.contains(eviction.node)) {
    if (eviction.queued) {
      append(actions, fleet_.settle(now, wall, eviction, Outcome{Errc::unavailable, {}}));
    }
    return;
  }
  std::vector<PodFacts> facts;
  std::set<std::string> spared;
  for (const PodFacts* pod : pods) {
    facts.push_back(*pod);
    if (of_daemon_set(*pod)) spared.insert(pod->key());
  }
  NodeFacts about;
  about.name = eviction.node;
  if (const NodeFacts* node = fleet_.node(eviction.node)) about = *node;
  runs_.emplace(eviction.node, Run{eviction, {about, std::move(facts), std::move(spared)}});
  go_on(now, wall, eviction.node, actions);
}

void Controller::go_on(MonoTime now, WallTime wall, const std::string& node, Actions& actions) {
  const auto run = runs_.find(node);
  while (auto action = run->second.eviction.next()) {
    const PodRef* pod = pod_of(*action);
    if (pod != nullptr) run_of_[pod->key()] = node;
    actions.push_back(*std::move(action));
    if (pod != nullptr) return;
  }
  Outcome outcome;
  if (run->second.eviction.failed()) outcome.error = Errc::unavailable;
  const EvictPods done = run->second.action;
  runs_.erase(run);
  append(actions, fleet_.settle(now, wall, done, outcome));
}

const std::string* Controller::evicting_node(const Action& action) const {
  const PodRef* pod = pod_of(action);
  if (pod == nullptr) return nullptr;
  const auto found = run_of_.find(pod->key());
  return found == run_of_.end() ? nullptr : &found->second;
}

bool Controller::of_daemon_set(const PodFacts& pod) const {
  return std::any_of(daemon_sets_.begin(), daemon_sets_.end(),
                     [&pod](const auto& entry) { return selects(entry.second, pod); });
}

}  // namespace holdfast::sync::lifecycle
