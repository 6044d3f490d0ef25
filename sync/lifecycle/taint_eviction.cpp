#include "sync/lifecycle/taint_eviction.h"
#include "platform/check.h"

#include <algorithm>
#include <utility>

#include "sync/lifecycle/taints.h"
#include "sync/objects/names.h"
#include "sync/objects/toleration.h"

namespace holdfast::sync::lifecycle {
namespace {

// As upstream: five attempts, 10 ms apart. Upstream then gives up; we continue with longer pauses.
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

// The pod of an effect that may belong to a taint eviction.
const PodRef* pod_of(const Effect& effect) {
  if (const auto* marking = std::get_if<MarkPodDisrupted>(&effect)) {
    return marking->withdrawn ? nullptr : &marking->pod;
  }
  if (const auto* eviction = std::get_if<EvictPod>(&effect)) return &eviction->pod;
  const auto* deletion = std::get_if<DeletePod>(&effect);
  return deletion != nullptr && !deletion->forced ? &deletion->pod : nullptr;
}

bool is_own(const Taint& taint) {
  return taint.key == objects::taint_not_ready || taint.key == objects::taint_unreachable;
}

// Whether `now` is the taint `before`, or one that has replaced it.
bool continues(const Taint& before, const Taint& now) {
  if (is_own(before)) return is_own(now);
  return before.key == now.key && before.value == now.value;
}

RecordEvent eviction_event(const PodRef& pod, std::string_view what) {
  const PodRef about{pod.namespace_name, pod.name, ""};
  return pod_event(EventSource::taint_eviction, about, false, "TaintManagerEviction",
                   std::string(what) + " Pod " + pod.key());
}

}  // namespace

Effects TaintEviction::set_node(MonoTime now, WallTime wall, const NodeFacts& node,
                                const Pods& pods) {
  std::vector<Taint> taints = objects::no_execute_taints(node.taints);
  // Classic OpenYurt evicts no pods from an autonomous node that is not ready, whatever the taints.
  const bool left_alone = options_.autonomy == AutonomyMode::openyurt_classic &&
                          node.autonomy.classic && node.ready().status != Truth::yes;
  if (left_alone) taints.clear();
  NodeTaints& known = nodes_[node.name];
  if (known.seen && known.all == taints) return {};
  known.seen = true;
  known.all = std::move(taints);
  Effects effects;
  refresh(now, wall, known, pods, effects);
  return effects;
}

void TaintEviction::remove_node(const std::string& node) { nodes_.erase(node); }

Effects TaintEviction::withhold(MonoTime now, WallTime wall, const std::string& node, bool on,
                                const Pods& pods) {
  Effects effects;
  const auto known = nodes_.find(node);
  if (known == nodes_.end() || known->second.withheld == on) return effects;
  known->second.withheld = on;
  refresh(now, wall, known->second, pods, effects);
  return effects;
}

Effects TaintEviction::set_pod(MonoTime now, WallTime wall, const PodFacts* before,
                               const PodFacts& pod) {
  Effects effects;
  if (before != nullptr && before->uid != pod.uid) {  // another pod with the same name
    effects = remove_pod(*before);
    before = nullptr;
  }
  if (pod.disruption_marked) {
    const auto eviction = evictions_.find(pod.key());
    if (eviction != evictions_.end()) eviction->second.marked = true;
    if (unwanted_marks_.erase(pod.uid) > 0) withdraw_mark(wall, pod, effects);
  }
  const bool same = before != nullptr && before->tolerations == pod.tolerations &&
                    before->node == pod.node && (before->ended == pod.ended || !keeps(pod));
  if (same) return effects;
  const auto node = nodes_.find(pod.node);
  if (node == nodes_.end()) return effects;
  if (!node->second.effective.empty()) {
    evaluate(now, wall, pod, node->second.effective, effects);
  } else if (before == nullptr && node->second.seen) {
    withdraw_mark(wall, pod, effects);  // An earlier leader has left it.
  }
  return effects;
}

Effects TaintEviction::remove_pod(const PodFacts& pod) {
  Effects effects;
  cancel(pod, effects);
  unwanted_marks_.erase(pod.uid);
  return effects;
}

Effects TaintEviction::fire(MonoTime now, WallTime wall) {
  Effects effects;
  for (const std::string& key : timers_.take(now)) start(now, wall, evictions_.at(key), effects);
  while (!retries_.empty() && retries_.begin()->first <= now) {
    Eviction& eviction = evictions_.at(retries_.begin()->second);
    retries_.erase(retries_.begin());
    eviction.retry = MonoTime::max();
    act(now, wall, eviction, effects);
  }
  return effects;
}

Effects TaintEviction::settle(MonoTime now, const Effect& effect, const Outcome& outcome) {
  const PodRef* pod = pod_of(effect);
  if (pod == nullptr) return {};
  const auto found = evictions_.find(pod->key());
  if (found == evictions_.end() || found->second.pod != *pod) return {};
  if (found->second.retry != MonoTime::max() || timers_.find(pod->key()) != nullptr) return {};

  Effects effects;
  const bool marking = std::holds_alternative<MarkPodDisrupted>(effect);
  // A conflict means that another pod has the name by now: ours no longer exists.
  const bool gone = outcome.error == Errc::not_found ||
                    (std::holds_alternative<DeletePod>(effect) && outcome.error == Errc::conflict);
  if (gone || (outcome.ok() && !marking)) {
    finish(pod->key());
  } else if (outcome.ok()) {
    found->second.marked = true;
    found->second.marking = false;
    act(now, {}, found->second, effects);
  } else {
    found->second.marking = false;
    retry_later(now, *outcome.error, pod->key(), found->second);
  }
  return effects;
}

MonoTime TaintEviction::next() const {
  const MonoTime retry = retries_.empty() ? MonoTime::max() : retries_.begin()->first;
  return std::min(timers_.next(), retry);
}

const pacing::TimedQueue::Entry* TaintEviction::scheduled(const std::string& pod) const {
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
                            Effects& effects) {
  const std::vector<Taint> before =
      std::exchange(node.effective, node.withheld ? without_own_no_execute(node.all) : node.all);
  const std::vector<MonoTime> seen = std::exchange(node.since, {});
  for (const Taint& taint : node.effective) {
    const auto old = std::find_if(before.begin(), before.end(),
                                  [&taint](const Taint& each) { return continues(each, taint); });
    node.since.push_back(
        old == before.end() ? now : seen[static_cast<std::size_t>(old - before.begin())]);
  }
  const bool lost = std::any_of(before.begin(), before.end(), [&node](const Taint& old) {
    return std::none_of(node.effective.begin(), node.effective.end(),
                        [&old](const Taint& taint) { return continues(old, taint); });
  });
  const bool postpones = node.withheld || (lost && !options_.timers_outlive_taints);
  for (const PodFacts* pod : pods) {
    if (node.effective.empty()) {
      cancel(*pod, effects);
      withdraw_mark(wall, *pod, effects);
      continue;
    }
    if (postpones) postpone(now, wall, *pod, node, effects);
    evaluate(now, wall, *pod, node.effective, effects);
  }
}

std::optional<MonoTime> TaintEviction::due(const PodFacts& pod, const NodeTaints& node,
                                           MonoTime began) const {
  std::optional<MonoTime> first;
  for (std::size_t index = 0; index < node.effective.size(); ++index) {
    const auto used = objects::matching_tolerations({node.effective[index]}, pod.tolerations,
                                                    options_.comparison_tolerations);
    if (!used) return std::nullopt;
    const auto stay = objects::shortest_toleration(*used);
    if (!stay) continue;
    const MonoTime end = std::max(node.since[index], began) + *stay;
    first = std::min(first.value_or(end), end);
  }
  return first;
}

void TaintEviction::postpone(MonoTime now, WallTime wall, const PodFacts& pod,
                             const NodeTaints& node, Effects& effects) {
  const std::string key = pod.key();
  const auto found = evictions_.find(key);
  if (found == evictions_.end()) return;
  const MonoTime began = found->second.began;
  const auto later = due(pod, node, began);
  const pacing::TimedQueue::Entry* timer = timers_.find(key);
  if (!later || *later <= (timer == nullptr ? now : timer->fire)) return;
  cancel(pod, effects);
  timers_.add(now, key, {now, *later});
  evictions_[key] = eviction_of(began, pod, node.effective);
  withdraw_mark(wall, pod, effects);
}

void TaintEviction::evaluate(MonoTime now, WallTime wall, const PodFacts& pod,
                             const std::vector<Taint>& taints, Effects& effects) {
  const std::string key = pod.key();
  if (keeps(pod)) {
    cancel(pod, effects);
    withdraw_mark(wall, pod, effects);
    return;
  }
  const auto found = evictions_.find(key);
  const bool waits = timers_.find(key) != nullptr;
  // An eviction in progress continues. One that has failed several times starts again at once.
  const bool at_it = found != evictions_.end() && !waits &&
                     (found->second.asks || found->second.failures < quick_tries);
  const auto used =
      objects::matching_tolerations(taints, pod.tolerations, options_.comparison_tolerations);
  if (!used) {
    if (at_it) return;
    cancel(pod, effects);
    start(now, wall, eviction_of(now, pod, taints), effects);
    return;
  }
  const auto stay = objects::shortest_toleration(*used);
  if (!stay) {
    if (!options_.endless_toleration_cancels) return;
    cancel(pod, effects);
    withdraw_mark(wall, pod, effects);
  } else if (found != evictions_.end() || lingering_.contains(key)) {
    return;  // As upstream, a running timer is not changed.
  } else if (*stay == Duration::zero()) {
    start(now, wall, eviction_of(now, pod, taints), effects);
  } else {
    timers_.add(now, key, {now, now + *stay});
    evictions_[key] = eviction_of(now, pod, taints);
    withdraw_mark(wall, pod, effects);
  }
}

bool TaintEviction::keeps(const PodFacts& pod) const {
  if (!pod.ended) return false;
  const auto node = nodes_.find(pod.node);
  const bool withheld = node != nodes_.end() && node->second.withheld;
  return withheld || options_.eviction_mode == EvictionMode::evict;
}

void TaintEviction::cancel(const PodFacts& pod, Effects& effects) {
  const std::string key = pod.key();
  lingering_.erase(key);
  if (timers_.cancel(key)) {
    effects.emplace_back(eviction_event(ref_of(pod), "Cancelling deletion of"));
  }
  const auto found = evictions_.find(key);
  if (found != evictions_.end() && found->second.marking) unwanted_marks_.insert(pod.uid);
  drop(key);
}

void TaintEviction::withdraw_mark(WallTime wall, const PodFacts& pod, Effects& effects) const {
  const bool stays = pod.disruption_marked && !pod.terminating && !pod.ended;
  if (stays && options_.disruption_condition) {
    effects.emplace_back(MarkPodDisrupted{ref_of(pod), wall, true});
  }
}

bool TaintEviction::is_evicting(const PodFacts& pod) const {
  const auto found = evictions_.find(pod.key());
  return found != evictions_.end() && found->second.pod.uid == pod.uid &&
         timers_.find(pod.key()) == nullptr;
}

TaintEviction::Eviction TaintEviction::eviction_of(MonoTime began, const PodFacts& pod,
                                                   const std::vector<Taint>& taints) const {
  Eviction eviction;
  eviction.pod = ref_of(pod);
  eviction.node = pod.node;
  eviction.began = began;
  eviction.is_going = pod.terminating;
  eviction.marked = pod.disruption_marked || !options_.disruption_condition;
  eviction.asks = options_.eviction_mode == EvictionMode::evict && !has_out_of_service(taints);
  return eviction;
}

void TaintEviction::start(MonoTime now, WallTime wall, Eviction eviction, Effects& effects) {
  const bool ends = eviction.asks && options_.eviction_deadline > Duration::zero();
  if (ends) eviction.deadline = now + options_.eviction_deadline;
  unwanted_marks_.erase(eviction.pod.uid);
  if (!eviction.is_going)
    effects.emplace_back(eviction_event(eviction.pod, "Marking for deletion"));
  act(now, wall, eviction, effects);
  const std::string key = eviction.pod.key();
  evictions_[key] = std::move(eviction);
}

void TaintEviction::act(MonoTime now, WallTime wall, Eviction& eviction, Effects& effects) {
  if (eviction.asks && now < eviction.deadline) {
    effects.emplace_back(EvictPod{eviction.pod});
  } else if (eviction.marked) {
    effects.emplace_back(DeletePod{eviction.pod});
  } else {
    eviction.marking = true;
    effects.emplace_back(MarkPodDisrupted{eviction.pod, wall});
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
  // The retry must not come later than the deadline.
  if (now < eviction.deadline) eviction.retry = std::min(eviction.retry, eviction.deadline);
  retries_.emplace(eviction.retry, key);
}

bool TaintEviction::spares(const PodFacts& pod) const {
  const auto node = nodes_.find(pod.node);
  return node != nodes_.end() && node->second.withheld && !is_evicting(pod);
}

void TaintEviction::check_invariants() const {
  for (const std::string& key : timers_.keys()) CHECK(evictions_.contains(key));
  for (const auto& [when, key] : retries_) CHECK(evictions_.at(key).retry == when);
  for (const auto& [key, eviction] : evictions_) {
    const bool retries = eviction.retry != MonoTime::max();
    CHECK(retries == retries_.contains({eviction.retry, key}));
    CHECK(!retries || timers_.find(key) == nullptr);
    const auto node = nodes_.find(eviction.node);
    CHECK(node == nodes_.end() || !node->second.withheld || !node->second.effective.empty());
  }
  for (const auto& [name, node] : nodes_) CHECK(node.since.size() == node.effective.size());
}

}  // namespace holdfast::sync::lifecycle
