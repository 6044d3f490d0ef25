// The part of the Controller that turns intents into effects and handles the outcomes of effects.

#include <algorithm>
#include <utility>

#include "sync/lifecycle/controller.h"
#include "sync/lifecycle/pod_marking.h"
#include "sync/lifecycle/taints.h"

namespace holdfast::sync::lifecycle {
namespace {

// The pod of an effect that may belong to a direct eviction. Taint evictions also use DeletePod.
const PodRef* pod_of(const Effect& effect) {
  if (const auto* lost = std::get_if<MarkPodLost>(&effect)) return &lost->pod;
  const auto* deletion = std::get_if<DeletePod>(&effect);
  return deletion != nullptr && !deletion->forced ? &deletion->pod : nullptr;
}

}  // namespace

void Controller::expand(const Now& now, Intents intents, Effects& effects) {
  for (Intent& intent : intents) {
    if (const auto* marking = std::get_if<MarkPods>(&intent)) {
      append(effects, pods_to_mark(pods_.on_node(marking->node), now.wall));
    } else if (const auto* eviction = std::get_if<EvictPods>(&intent)) {
      evict_pods(now, *eviction, pods_.on_node(eviction->node), effects);
    } else if (const auto* held = std::get_if<WithholdEvictions>(&intent)) {
      if (!enabled_.taint_eviction) continue;
      const auto pods = pods_.on_node(held->node);
      append(effects, eviction_.withhold(now.mono, now.wall, held->node, held->on, pods));
    } else if (auto* update = std::get_if<UpdateNodeStatus>(&intent)) {
      effects.emplace_back(std::move(*update));
    } else if (auto* patch = std::get_if<PatchTaints>(&intent)) {
      effects.emplace_back(std::move(*patch));
    } else {
      effects.emplace_back(std::get<RecordEvent>(std::move(intent)));
    }
  }
}

void Controller::take(const Now& now, const Performed& performed, Effects& effects) {
  const auto& [effect, outcome] = performed;
  if (const auto* patch = std::get_if<PatchTaints>(&effect)) {
    settle_taints(now, *patch, outcome, effects);
  } else if (const auto* labels = std::get_if<PatchLabels>(&effect)) {
    const bool is_present = fleet_.node(labels->node) != nullptr;
    if (!outcome.ok() && is_present) label_retries_[labels->node] = *labels;
  } else if (const auto* marking = std::get_if<MarkPodNotReady>(&effect)) {
    append(effects, after_marking(*marking, outcome));
    const PodFacts* pod = pods_.find(marking->pod.key());
    if (marking_failed(outcome) && pod != nullptr) fleet_.pods_left_unmarked(pod->node);
  } else if (const std::string* node = evicting_node(effect)) {
    const std::string name = *node;
    run_of_.erase(pod_of(effect)->key());
    runs_.at(name).eviction.settle(outcome);
    continue_run(now, name, effects);
  } else if (!binder_.settle(effect)) {
    settle_others(now, performed, effects);
  }
}

void Controller::settle_others(const Now& now, const Performed& performed, Effects& effects) {
  const auto& [effect, outcome] = performed;
  const auto* update = std::get_if<UpdateNodeStatus>(&effect);
  Intents intents;
  if (update != nullptr) intents = fleet_.settle(now.mono, now.wall, *update, outcome);
  Effects others = eviction_.settle(now.mono, effect, outcome);
  append(others, out_of_service_.settle(effect, outcome));
  append(others, provider_check_.settle(now.mono, effect, outcome));
  expand(now, std::move(intents), effects);
  append(effects, std::move(others));
  // The NoSchedule taint follows the status at once. Waiting for the watch to deliver the status
  // would put it behind the status writes of all other nodes.
  if (update == nullptr || !outcome.ok() || !enabled_.node_lifecycle) return;
  const NodeFacts* node = fleet_.node(update->node);
  if (node != nullptr && node->uid == update->uid) reconcile(now, *node, effects);
}

void Controller::settle_taints(const Now& now, const PatchTaints& patch, const Outcome& outcome,
                               Effects& effects) {
  if (patch.cause != TaintCause::conditions) {
    fleet_.settle(now.mono, patch, outcome);
    return;
  }
  const auto found = reconciling_.find(patch.node);
  if (found == reconciling_.end()) return;
  if (!outcome.ok()) taint_retries_.insert(patch.node);
  const NodeFacts* node = fleet_.node(patch.node);
  // The node that we wrote may be newer than the one that the watch has delivered so far.
  const bool newer = outcome.node && node != nullptr && outcome.node->uid == node->uid &&
                     is_older_version(node->resource_version, outcome.node->resource_version);
  if (newer) own_versions_[patch.node] = outcome.node->resource_version;
  if (--found->second.under_way > 0) return;
  const bool again = found->second.again;
  reconciling_.erase(found);
  if (again && node != nullptr) reconcile(now, newer ? *outcome.node : *node, effects);
}

void Controller::reconcile(const Now& now, const NodeFacts& node, Effects& effects) {
  if (!options_.taint_by_condition) return;
  const auto busy = reconciling_.find(node.name);
  if (busy != reconciling_.end()) {
    busy->second.again = true;
    return;
  }
  auto patches = reconcile_no_schedule(now.wall, node, options_);
  if (patches.empty()) return;
  reconciling_[node.name].under_way = static_cast<int>(patches.size());
  append(effects, std::move(patches));
}

// As reconcile(), for a node that the watch has delivered. A node that is older than our last write
// lacks that write, so it is ignored; the watch delivers a newer one. If it does not, the next pass
// reconciles the node.
void Controller::reconcile_watched(const Now& now, const NodeFacts& node, Effects& effects) {
  const auto own = own_versions_.find(node.name);
  if (own == own_versions_.end()) {
    reconcile(now, node, effects);
  } else if (is_older_version(node.resource_version, own->second)) {
    taint_retries_.insert(node.name);
  } else {
    own_versions_.erase(own);
    reconcile(now, node, effects);
  }
}

void Controller::evict_pods(const Now& now, const EvictPods& intent,
                            const std::vector<const PodFacts*>& pods, Effects& effects) {
  // At most one eviction of a node runs at a time. The next pass finds pods that appear meanwhile.
  if (runs_.contains(intent.node)) {
    if (intent.queued) fleet_.settle(now.mono, intent, Outcome{Errc::unavailable, {}});
    return;
  }
  std::vector<PodFacts> facts;
  std::set<std::string> of_daemon_sets;
  for (const PodFacts* pod : pods) {
    facts.push_back(*pod);
    if (is_of_daemon_set(*pod)) of_daemon_sets.insert(pod->key());
  }
  NodeFacts about;
  about.name = intent.node;
  if (const NodeFacts* node = fleet_.node(intent.node)) about = *node;
  runs_.emplace(intent.node,
                EvictionRun{intent, {about, std::move(facts), std::move(of_daemon_sets)}});
  continue_run(now, intent.node, effects);
}

void Controller::continue_run(const Now& now, const std::string& node, Effects& effects) {
  const auto run = runs_.find(node);
  const bool withheld = fleet_.withholds_evictions(now.mono, node);
  while (auto effect = withheld ? std::nullopt : run->second.eviction.next()) {
    const PodRef* pod = pod_of(*effect);
    if (pod != nullptr) run_of_.insert_or_assign(pod->key(), RunEffect{node, *effect});
    effects.push_back(*std::move(effect));
    if (pod != nullptr) return;
  }
  Outcome outcome;
  if (withheld || run->second.eviction.failed()) outcome.error = Errc::unavailable;
  const EvictPods done = run->second.intent;
  runs_.erase(run);
  fleet_.settle(now.mono, done, outcome);
}

const std::string* Controller::evicting_node(const Effect& effect) const {
  const PodRef* pod = pod_of(effect);
  if (pod == nullptr) return nullptr;
  const auto found = run_of_.find(pod->key());
  // A taint eviction may delete the same pod; its outcome answers the same question.
  const bool ours = found != run_of_.end() && found->second.effect == effect;
  return ours ? &found->second.node : nullptr;
}

bool Controller::is_of_daemon_set(const PodFacts& pod) const {
  return std::any_of(daemon_sets_.begin(), daemon_sets_.end(),
                     [&pod](const auto& entry) { return selects(entry.second, pod); });
}

}  // namespace holdfast::sync::lifecycle
