#include "sync/lifecycle/controller.h"

#include <algorithm>
#include <utility>

#include "sync/lifecycle/labels.h"
#include "sync/lifecycle/pod_marking.h"

namespace holdfast::sync::lifecycle {
namespace {

Options with_binding(Options options, const EnabledControllers& enabled) {
  options.bind_pods = enabled.pod_binding;
  return options;
}

std::string key_of(const ObjectMeta& meta) { return meta.namespace_name + "/" + meta.name; }

template <class T>
std::string key_of(const Removed<T>& removed) {
  return removed.namespace_name + "/" + removed.name;
}

}  // namespace

Controller::Controller(const Options& options, const EnabledControllers& enabled)
    : options_(with_binding(options, enabled)),
      enabled_(enabled),
      fleet_(options_),
      eviction_(options_),
      out_of_service_(options_) {}

void Controller::check_invariants() const {
  fleet_.check_invariants();
  eviction_.check_invariants();
  pods_.check_invariants();
}

control::Step<Effect> Controller::step(const Now& now, const Input& input) {
  monotonic_.check(now.mono);
  control::Step<Effect> step;
  std::visit([this, &now, &step](const auto& one) { take(now, one, step.effects); }, input);
  // Most inputs are leases. They change no queue, so the deadline need not be computed again.
  if (!std::holds_alternative<Changed<Lease>>(input)) deadline_ = deadline();
  step.deadline = deadline_;
  return step;
}

void Controller::take(const Now& now, const Changed<Node>& node, Effects& effects) {
  NodeFacts facts = facts_of(node.object, options_);
  const std::string name = facts.name;
  fleet_.set_node(now.mono, now.wall, std::move(facts));
  const NodeFacts& known = *fleet_.node(name);
  if (enabled_.pod_binding && binder_.set_node(known)) bind_pods(known, effects);
  if (enabled_.taint_eviction) {
    const auto pods = pods_.on_node(name);
    const bool held = fleet_.withholds_evictions(now.mono, name);
    append(effects, eviction_.withhold(now.mono, now.wall, name, held, pods));
    append(effects, eviction_.set_node(now.mono, now.wall, known, pods));
    // For a new node the first call had no effect, because set_node() had not added it yet. For a
    // known node the first call comes before the taints, which must not evict pods meanwhile.
    append(effects, eviction_.withhold(now.mono, now.wall, name, held, pods));
  }
  if (!enabled_.node_lifecycle) return;
  if (options_.out_of_service) out_of_service_.set_node(known);
  if (options_.ask_provider) provider_check_.set_node(now.mono, known);
  reconcile_watched(now, known, effects);
  const StringMap labels = labels_to_set(node.object.metadata.labels);
  label_retries_.erase(name);
  if (!labels.empty()) effects.emplace_back(PatchLabels{name, labels});
}

void Controller::take(const Now& /*now*/, const Removed<Node>& node, Effects& /*effects*/) {
  fleet_.remove_node(node.name);
  eviction_.remove_node(node.name);
  out_of_service_.remove_node(node.name);
  provider_check_.remove_node(node.name);
  binder_.remove_node(node.name);
  reconciling_.erase(node.name);
  own_versions_.erase(node.name);
  label_retries_.erase(node.name);
  taint_retries_.erase(node.name);
}

void Controller::take(const Now& now, const Changed<Pod>& pod, Effects& effects) {
  const PodFacts facts = facts_of(pod.object, options_);
  const auto before = pods_.set(facts);
  if (enabled_.taint_eviction) {
    append(effects, eviction_.set_pod(now.mono, now.wall, before ? &*before : nullptr, facts));
  }
  const bool became_ready = before && before->uid == facts.uid && before->ready != Truth::yes &&
                            facts.ready == Truth::yes;
  if (became_ready) fleet_.pod_became_ready(now.mono, facts.node);
  const NodeFacts* node = enabled_.pod_binding ? fleet_.node(facts.node) : nullptr;
  if (node != nullptr) binder_.consider(*node, facts, effects);
  const bool assigned =
      !facts.node.empty() && (!before || before->node != facts.node || before->uid != facts.uid);
  if (assigned && enabled_.node_lifecycle) assign_pod(now, facts, effects);
}

void Controller::take(const Now& /*now*/, const Removed<Pod>& pod, Effects& effects) {
  const auto before = pods_.remove(key_of(pod));
  if (before && enabled_.taint_eviction) append(effects, eviction_.remove_pod(*before));
}

void Controller::take(const Now& now, const Changed<Lease>& lease, Effects& /*effects*/) {
  const auto& renewed = lease.object.spec.renew_time;
  if (renewed && options_.node_leases) {
    fleet_.set_lease(now.mono, lease.object.metadata.name, *renewed);
  }
}

void Controller::take(const Now& /*now*/, const Removed<Lease>& lease, Effects& /*effects*/) {
  fleet_.remove_lease(lease.name);
}

void Controller::take(const Now& /*now*/, const Changed<DaemonSet>& set, Effects& /*effects*/) {
  daemon_sets_[key_of(set.object.metadata)] = set.object;
}

void Controller::take(const Now& /*now*/, const Removed<DaemonSet>& set, Effects& /*effects*/) {
  daemon_sets_.erase(key_of(set));
}

void Controller::take(const Now& now, const ContactRestored& /*restored*/, Effects& /*effects*/) {
  fleet_.restart_graces(now.mono);
  // What the lists bring within a period still counts as contact.
  evictions_paused_until_ = now.mono + options_.monitor_grace + options_.monitor_period;
}

// All machines are asked first. Their intents are expanded afterwards, in the same order.
void Controller::take(const Now& now, const TimePassed& /*passed*/, Effects& effects) {
  const bool is_pass = has_passes() && now.mono >= next_pass_;
  // A pause ends with a pass: it finds the nodes that are still silent, and perhaps all zones down,
  // before anything is evicted.
  const bool is_over = evictions_paused_until_ && now.mono >= *evictions_paused_until_;
  if (is_over && (is_pass || !has_passes())) evictions_paused_until_.reset();
  const bool evicts = !evictions_paused_until_;
  Intents of_pass;
  Effects maintenance;
  if (is_pass) {
    next_pass_ = now.mono + options_.monitor_period;
    ++passes_;
    if (enabled_.node_lifecycle) {
      of_pass = fleet_.pass(now.mono, now.wall);
      maintenance = maintain(now);
    }
    if (enabled_.pod_binding) bind_unconfirmed(maintenance);
  }
  Intents of_zones;
  Effects evictions;
  if (enabled_.node_lifecycle && evicts) of_zones = fleet_.drain(now.mono, now.wall);
  if (enabled_.taint_eviction && evicts) evictions = eviction_.fire(now.mono, now.wall);
  expand(now, std::move(of_pass), effects);
  append(effects, std::move(maintenance));
  expand(now, std::move(of_zones), effects);
  append(effects, std::move(evictions));
}

MonoTime Controller::deadline() const {
  if (evictions_paused_until_ && has_passes()) return next_pass_;
  MonoTime next = MonoTime::max();
  if (enabled_.node_lifecycle) next = fleet_.next_drain();
  if (enabled_.taint_eviction) next = std::min(next, eviction_.next());
  if (evictions_paused_until_) next = std::max(next, *evictions_paused_until_);
  return has_passes() ? std::min(next, next_pass_) : next;
}

// The effects that every pass repeats or decides, besides the Fleet's.
Effects Controller::maintain(const Now& now) {
  Effects effects;
  for (const std::string& name : std::exchange(taint_retries_, {})) {
    own_versions_.erase(name);
    if (const NodeFacts* node = fleet_.node(name)) reconcile(now, *node, effects);
  }
  for (auto& [name, patch] : std::exchange(label_retries_, {})) effects.emplace_back(patch);
  if (evictions_paused_until_) return effects;
  append(effects, out_of_service_.pass(pods_));
  append(effects, provider_check_.pass(now.mono));
  return effects;
}

void Controller::assign_pod(const Now& now, const PodFacts& pod, Effects& effects) {
  const PodAction action = fleet_.pod_assigned(now.mono, pod.node);
  const std::vector<const PodFacts*> pods{&pod};
  if (action.evict) evict_pods(now, EvictPods{pod.node, false}, pods, effects);
  if (action.mark) append(effects, pods_to_mark(pods, now.wall));
}

void Controller::bind_pods(const NodeFacts& node, Effects& effects) {
  for (const PodFacts* pod : pods_.on_node(node.name)) binder_.consider(node, *pod, effects);
}

void Controller::bind_unconfirmed(Effects& effects) {
  for (const std::string& key : binder_.take_unconfirmed()) {
    const PodFacts* pod = pods_.find(key);
    const NodeFacts* node = pod == nullptr ? nullptr : fleet_.node(pod->node);
    if (node != nullptr) binder_.consider(*node, *pod, effects);
  }
}

bool Controller::is_obsolete(const Effect& effect) const {
  const PodRef* pod = nullptr;
  const auto* mark = std::get_if<MarkPodDisrupted>(&effect);
  if (mark != nullptr && !mark->withdrawn) pod = &mark->pod;
  if (const auto* eviction = std::get_if<EvictPod>(&effect)) pod = &eviction->pod;
  const auto* deletion = std::get_if<DeletePod>(&effect);
  if (deletion != nullptr && !deletion->forced) pod = &deletion->pod;
  if (pod == nullptr) return false;
  const PodFacts* known = pods_.find(pod->key());
  if (known == nullptr || known->uid != pod->uid) return false;
  return known->terminating || (enabled_.taint_eviction && eviction_.spares(*known));
}

}  // namespace holdfast::sync::lifecycle
