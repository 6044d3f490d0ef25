#include "sync/lifecycle/taint_eviction.h"

#include <algorithm>
#include <utility>

#include "sync/lifecycle/taints.h"
#include "sync/lifecycle/toleration.h"

namespace holdfast::sync::lifecycle {
namespace {

// As upstream: five tries, 10 ms apart. Upstream forgets the pod then; we go on, slowly.
constexpr int quick_tries = 5;
constexpr Duration quick_pause = std::chrono::milliseconds(10);
constexpr Duration slow_pause_min = std::chrono::seconds(10);
constexpr Duration slow_pause_max = std::chrono::minutes(5);

Duration pause_after(int failures) {
  if (failures < quick_tries) return quick_pause;
  const int doublings = std::min(failures - quick_tries, 8);
  return std::min(slow_pause_min * (1 << doublings), slow_pause_max);
}

Duration pause_of_refusal(const Options& options, int refusals) {
  const int doublings = std::min(refusals - 1, 16);
  return std::min(options.eviction_pause_min * (1 << doublings), options.eviction_pause_max);
}

// The pod of an action that may be ours.
const PodRef* pod_of(const Action& action) {
  if (const auto* marking = std::get_if<MarkPodDisrupted>(&action)) return &marking->pod;
  if (const auto* eviction = std::get_if<EvictPod>(&action)) return &eviction->pod;
  const auto* deletion = std::get_if<DeletePod>(&action);
  return deletion != nullptr && !deletion->forced ? &deletion->pod : nullptr;
}

RecordEvent eviction_event(const PodRef& pod, std::string_view what) {
  const PodRef about{pod.namespace_name, pod.name, ""};
  return pod_event(EventSource::taint_eviction, about, false, "TaintManagerEviction",
                   std::string(what) + " Pod " + pod.key());
}

}  // namespace

Actions TaintEviction::set_node(MonoTime now, WallTime wall, const NodeFacts& node,
                                const Pods& pods) {
  std::vector<Taint> taints = no_execute_taints(node.taints);
  const bool left_alone = options_.autonomy == AutonomyMode::openyurt_classic &&
                          node.autonomy.classic && node.ready().status != Truth::yes;
  if (left_alone) taints.clear();
  NodeTaints& known = nodes_[node.name];
  if (known.seen && known.all == taints) return {};
  known.seen = true;
  known.all = std::move(taints);
  Actions actions;
  refresh(now, wall, known, pods, actions);
  return actions;
}

void TaintEviction::remove_node(const std::string& node) { nodes_.erase(node); }

Actions TaintEviction::withhold(MonoTime now, WallTime wall, const std::string& node, bool on,
                                const Pods& pods) {
  Actions actions;
  const auto known = nodes_.find(node);
  if (known == nodes_.end() || known->second.withheld == on) return actions;
  known->second.withheld = on;
  refresh(now, wall, known->second, pods, actions);
  return actions;
}

Actions TaintEviction::set_pod(MonoTime now, WallTime wall, const PodFacts* before,
                               const PodFacts& pod) {
  Actions actions;
  if (before != nullptr && before->uid != pod.uid) {
    actions = remove_pod(*before);
    before = nullptr;
  }
  const auto eviction = evictions_.find(pod.key());
  if (eviction != evictions_.end() && pod.disruption_marked) eviction->second.marked = true;
  if (before != nullptr && before->tolerations == pod.tolerations && before->node == pod.node) {
    return actions;
  }
  const auto node = nodes_.find(pod.node);
  if (node != nodes_.end() && !node->second.effective.empty()) {
    evaluate(now, wall, pod, node->second.effective, actions);
  }
  return actions;
}

Actions TaintEviction::remove_pod(const PodFacts& pod) {
  Actions actions;
  cancel(pod, actions);
  return actions;
}

Actions TaintEviction::fire(MonoTime now, WallTime wall) {
  Actions actions;
  for (const std::string& key : timers_.take(now)) start(now, wall, evictions_.at(key), actions);
  while (!retries_.empty() && retries_.begin()->first <= now) {
    Eviction& eviction = evictions_.at(retries_.begin()->second);
    retries_.erase(retries_.begin());
    eviction.retry = MonoTime::max();
    act(now, wall, eviction, actions);
  }
  return actions;
}

Actions TaintEviction::settle(MonoTime now, const Action& action, const Outcome& outcome) {
  const PodRef* pod = pod_of(action);
  if (pod == nullptr) return {};
  const auto found = evictions_.find(pod->key());
  if (found == evictions_.end() || found->second.pod != *pod) return {};
  if (found->second.retry != MonoTime::max() || timers_.find(pod->key()) != nullptr) return {};

  Actions actions;
  const bool marking = std::holds_alternative<MarkPodDisrupted>(action);
  // A conflict means that the name belongs to another pod by now: ours is gone.
  const bool gone = outcome.error == Errc::not_found ||
                    (std::holds_alternative<DeletePod>(action) && outcome.error == Errc::conflict);
  if (gone || (outcome.ok() && !marking)) {
    finish(pod->key());
  } else if (outcome.ok()) {
    found->second.marked = true;
    act(now, {}, found->second, actions);
  } else {
    retry_later(now, *outcome.error, pod->key(), found->second);
  }
  return actions;
}

MonoTime TaintEviction::next() const {
  const MonoTime retry = retries_.empty() ? MonoTime::max() : retries_.begin()->first;
  return std::min(timers_.next(), retry);
}

const TimedQueue::Entry* TaintEviction::scheduled(const std::string& pod) const {
  return timers_.find(pod);
}

std::vector<std::string> TaintEviction::tainted_nodes() const {
  std::vector<std::string> names;
  for (const auto& [name, node] : nodes_) {
    if (!node.effective.empty()) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

void TaintEviction::refresh(MonoTime now, WallTime wall, NodeTaints& node, const Pods& pods,
                            Actions& actions) {
  node.effective = node.withheld ? without_own_no_execute(node.all) : node.all;
  for (const PodFacts* pod : pods) {
    if (node.effective.empty()) {
      cancel(*pod, actions);
    } else {
      evaluate(now, wall, *pod, node.effective, actions);
    }
  }
}

void TaintEviction::evaluate(MonoTime now, WallTime wall, const PodFacts& pod,
                             const std::vector<Taint>& taints, Actions& actions) {
  const std::string key = pod.key();
  const auto found = evictions_.find(key);
  const bool waits = timers_.find(key) != nullptr;
  const bool at_it = found != evictions_.end() && !waits &&
                     (found->second.asks || found->second.failures < quick_tries);
  const auto used = matching_tolerations(taints, pod.tolerations, options_.comparison_tolerations);
  if (!used) {
    if (at_it) return;
    cancel(pod, actions);
    start(now, wall, eviction_of(pod, taints), actions);
    return;
  }
  const auto stay = shortest_toleration(*used);
  if (!stay) {
    if (options_.endless_toleration_cancels) cancel(pod, actions);
  } else if (found != evictions_.end() || lingering_.contains(key)) {
    return;  // The first clock stands.
  } else if (*stay == Duration::zero()) {
    start(now, wall, eviction_of(pod, taints), actions);
  } else {
    timers_.add(now, key, {now, now + *stay});
    evictions_[key] = eviction_of(pod, taints);
  }
}

void TaintEviction::cancel(const PodFacts& pod, Actions& actions) {
  const std::string key = pod.key();
  lingering_.erase(key);
  if (timers_.cancel(key)) {
    actions.emplace_back(eviction_event(ref_of(pod), "Cancelling deletion of"));
  }
  drop(key);
}

TaintEviction::Eviction TaintEviction::eviction_of(const PodFacts& pod,
                                                   const std::vector<Taint>& taints) const {
  Eviction eviction;
  eviction.pod = ref_of(pod);
  eviction.marked = pod.disruption_marked || !options_.disruption_condition;
  eviction.asks = options_.eviction_mode == EvictionMode::evict && !has_out_of_service(taints);
  return eviction;
}

void TaintEviction::start(MonoTime now, WallTime wall, Eviction eviction, Actions& actions) {
  const bool ends = eviction.asks && options_.eviction_deadline > Duration::zero();
  if (ends) eviction.deadline = now + options_.eviction_deadline;
  actions.emplace_back(eviction_event(eviction.pod, "Marking for deletion"));
  act(now, wall, eviction, actions);
  const std::string key = eviction.pod.key();
  evictions_[key] = std::move(eviction);
}

void TaintEviction::act(MonoTime now, WallTime wall, const Eviction& eviction,
                        Actions& actions) const {
  if (eviction.asks && now < eviction.deadline) {
    actions.emplace_back(EvictPod{eviction.pod});
  } else if (eviction.marked) {
    actions.emplace_back(DeletePod{eviction.pod});
  } else {
    actions.emplace_back(MarkPodDisrupted{eviction.pod, wall});
  }
}

void TaintEviction::finish(const std::string& key) {
  drop(key);
  if (options_.finished_evictions_linger) lingering_.insert(key);
}

void TaintEviction::drop(const std::string& key) {
  const auto found = evictions_.find(key);
  if (found == evictions_.end()) return;
  retries_.erase({found->second.retry, key});
  evictions_.erase(found);
}

void TaintEviction::retry_later(MonoTime now, Errc error, const std::string& key,
                                Eviction& eviction) {
  const bool refused = eviction.asks && error == Errc::exhausted;
  const Duration pause =
      refused ? pause_of_refusal(options_, ++eviction.refusals) : pause_after(++eviction.failures);
  eviction.retry = now + pause;
  // Whatever it waits for, it must not miss its deadline.
  if (now < eviction.deadline) eviction.retry = std::min(eviction.retry, eviction.deadline);
  retries_.emplace(eviction.retry, key);
}

}  // namespace holdfast::sync::lifecycle
