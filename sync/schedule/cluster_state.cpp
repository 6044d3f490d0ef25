#include "sync/schedule/cluster_state.h"

#include <algorithm>

#include "platform/check.h"
#include "sync/schedule/contact.h"
#include "sync/schedule/filters/plugins.h"
#include "sync/schedule/node_matcher.h"
#include "sync/schedule/preemption/preparation.h"

namespace holdfast::sync::schedule {
namespace {

bool runs(const PodRef& pod) { return pod != nullptr && !pod->node().empty(); }

bool is_over(const Pod& pod) {
  return pod.status.phase == "Succeeded" || pod.status.phase == "Failed";
}

// Whether the pod could run on the node if no other pod was there.
bool fits_empty(const PodView& pod, const Node& node, Symbols& symbols, const FitOptions& fit) {
  const Pod& spec = *pod.pod;
  if (node.spec.unschedulable && !tolerates_cordon(spec)) return false;
  if (untolerated(node.spec.taints, spec) != nullptr) return false;
  if (is_autonomous_out_of_contact(node) || !NodeMatcher(spec.spec).matches(node)) return false;
  NodeView empty;
  auto amounts = read_resources(node.status.allocatable, symbols);
  if (!amounts) return false;
  empty.allocatable = std::move(*amounts);
  empty.allowed_pods = read_amount(node.status.allocatable, "pods").value_or(0);
  return shortfalls(pod, empty, {}, 0, symbols, fit).empty();
}

}  // namespace

ClusterState::ClusterState(ClusterStateOptions options, MonoTime now)
    : options_(std::move(options)),
      hints_(cluster_.symbols(), options_.fit),
      queue_(
          hints_, [this](const PodView& pod) { return preemption_gate(pod, true, preempting_); },
          options_.queue, now) {}

void ClusterState::set(MonoTime now, Node node) {
  const auto after = std::make_shared<const Node>(std::move(node));
  std::shared_ptr<const Node>& slot = nodes_[after->metadata.name];
  const std::shared_ptr<const Node> before = std::exchange(slot, after);
  cluster_.set_node(after);
  if (before == nullptr) {
    queue_.happened(now, node_added(after));
    return;
  }
  for (const Event& event : node_changed(before, after)) queue_.happened(now, event);
  retry_nominated(now, *before, after.get());
}

void ClusterState::remove_node(MonoTime now, const std::string& name) {
  cluster_.remove_node(name);
  const auto at = nodes_.find(name);
  if (at == nodes_.end()) return;
  const std::shared_ptr<const Node> before = std::move(at->second);
  nodes_.erase(at);
  queue_.happened(now, node_removed(before));
  retry_nominated(now, *before, nullptr);
}

void ClusterState::retry_nominated(MonoTime now, const Node& before, const Node* after) {
  std::vector<std::string> uids;
  for (const PodRef& pod : nominator_.on(before.metadata.name)) {
    const auto fits = [this, &pod](const Node& node) {
      return fits_empty(*pod, node, cluster_.symbols(), options_.fit);
    };
    if ((after == nullptr || !fits(*after)) && fits(before)) uids.push_back(pod->uid());
  }
  for (const std::string& uid : uids) queue_.activate(now, uid);
}

bool ClusterState::concerns_us(const Pod& pod) const {
  if (is_over(pod)) return false;
  return !pod.spec.node_name.empty() || pod.spec.scheduler_name == options_.scheduler;
}

void ClusterState::set(MonoTime now, Pod pod) {
  const Name name{pod.metadata.namespace_name, pod.metadata.name};
  const auto at = pods_.find(name);
  PodRef before = at == pods_.end() ? nullptr : at->second;
  const bool another = before != nullptr && before->uid() != pod.metadata.uid;
  if (before != nullptr && (another || !concerns_us(pod))) {
    drop(now, before);
    before = nullptr;
  }
  if (!concerns_us(pod)) return;
  const std::string& version = pod.metadata.resource_version;
  if (before != nullptr && !version.empty() && version == before->pod->metadata.resource_version) {
    return;  // A relist delivers unchanged pods again.
  }
  const PodRef after = view_of(std::move(pod), cluster_.symbols());
  pods_[name] = after;
  names_[after->uid()] = name;
  if (runs(after)) {
    set_running(now, before, after);
  } else {
    set_waiting(now, before, after);
  }
}

void ClusterState::set_running(MonoTime now, const PodRef& before, const PodRef& pod) {
  cluster_.set_pod(pod);
  if (runs(before)) {
    for (const Event& event : assigned_pod_changed(before, pod)) queue_.happened(now, event);
    return;
  }
  assumed_.erase(pod->uid());
  queue_.remove(pod->uid());
  end_nomination(now, pod, pod->node());
  queue_.happened(now, assigned_pod_added(pod));
}

void ClusterState::end_nomination(MonoTime now, const PodRef& pod, const std::string& node) {
  const std::string nominated = nominator_.node_of(pod->uid());
  if (nominated.empty()) return;
  nominator_.remove(pod->uid());
  if (nominated != node) queue_.happened(now, nomination_ended(pod));
}

void ClusterState::set_waiting(MonoTime now, const PodRef& before, const PodRef& pod) {
  if (is_assumed(pod->uid())) return;  // It counts as running already.
  if (before == nullptr) {
    nominator_.add(pod);
    queue_.add(now, pod);
    return;
  }
  nominator_.update(before, pod);
  queue_.update(now, pod, waiting_pod_changed(before, pod));
  const std::string& nominated = before->pod->status.nominated_node_name;
  if (!nominated.empty() && nominated != pod->pod->status.nominated_node_name) {
    queue_.happened(now, nomination_ended(before));
  }
}

void ClusterState::remove_pod(MonoTime now, const std::string& namespace_name,
                              const std::string& name) {
  const auto at = pods_.find({namespace_name, name});
  if (at == pods_.end()) return;
  const PodRef pod = at->second;
  drop(now, pod);
}

void ClusterState::drop(MonoTime now, const PodRef& pod) {
  const std::string& uid = pod->uid();
  pods_.erase({pod->namespace_name(), pod->name()});
  names_.erase(uid);
  queue_.remove(uid);
  end_nomination(now, pod, "");
  const bool counted = runs(pod) || is_assumed(uid);
  if (!counted) return;
  const PodRef gone = runs(pod) ? pod : assumed_.at(uid).pod;
  assumed_.erase(uid);
  cluster_.remove_pod(uid);
  queue_.happened(now, assigned_pod_deleted(gone));
}

PodRef ClusterState::assume(MonoTime now, const PodRef& pod, const std::string& node) {
  Pod copy = *pod->pod;
  copy.spec.node_name = node;
  const PodRef assumed = view_of(std::move(copy), cluster_.symbols());
  cluster_.set_pod(assumed);
  end_nomination(now, pod, node);
  assumed_[pod->uid()] = {assumed};
  return assumed;
}

void ClusterState::bound(MonoTime now, const std::string& uid) {
  const auto at = assumed_.find(uid);
  if (at == assumed_.end()) return;
  at->second.expires = now + options_.assumed_max;
  next_expiry_ = std::min(next_expiry_, at->second.expires);
}

void ClusterState::forget(MonoTime now, const std::string& uid) {
  const auto at = assumed_.find(uid);
  if (at == assumed_.end()) return;
  const PodRef gone = at->second.pod;
  assumed_.erase(at);
  cluster_.remove_pod(uid);
  queue_.happened(now, assigned_pod_deleted(gone));
}

void ClusterState::gate(const std::string& uid, bool shut) {
  if (shut) {
    preempting_.insert(uid);
  } else {
    preempting_.erase(uid);
  }
}

PodRef ClusterState::live(const std::string& uid) const {
  const auto name = names_.find(uid);
  if (name == names_.end()) return nullptr;
  const auto at = pods_.find(name->second);
  return at == pods_.end() ? nullptr : at->second;
}

void ClusterState::tick(MonoTime now) {
  queue_.tick(now);
  if (next_expiry_ <= now) expire(now);
}

void ClusterState::expire(MonoTime now) {
  std::vector<std::string> overdue;
  next_expiry_ = MonoTime::max();
  for (const auto& [uid, each] : assumed_) {
    if (each.expires <= now) {
      overdue.push_back(uid);
    } else {
      next_expiry_ = std::min(next_expiry_, each.expires);
    }
  }
  std::sort(overdue.begin(), overdue.end());  // The same order with every standard library.
  for (const std::string& uid : overdue) {
    forget(now, uid);
    // No watch has confirmed the binding, so the pod waits again.
    const PodRef pod = live(uid);
    if (pod == nullptr) continue;
    nominator_.add(pod);
    queue_.add(now, pod);
  }
}

MonoTime ClusterState::deadline() const {
  // `next_expiry_` may belong to a pod that was confirmed meanwhile; then expire() only corrects
  // it.
  const MonoTime expiry = assumed_.empty() ? MonoTime::max() : next_expiry_;
  return std::min(queue_.deadline(), expiry);
}

void ClusterState::set(const PodDisruptionBudget& budget) {
  budget_objects_.insert_or_assign({budget.metadata.namespace_name, budget.metadata.name}, budget);
  budgets_stale_ = true;
}

void ClusterState::remove_budget(const std::string& namespace_name, const std::string& name) {
  budget_objects_.erase({namespace_name, name});
  budgets_stale_ = true;
}

const Budgets& ClusterState::budgets() {
  if (!budgets_stale_) return budgets_;
  std::vector<PodDisruptionBudget> all;
  all.reserve(budget_objects_.size());
  for (const auto& [name, budget] : budget_objects_) all.push_back(budget);
  budgets_ = Budgets(all);
  budgets_stale_ = false;
  return budgets_;
}

void ClusterState::check_invariants() const {
  CHECK(names_.size() == pods_.size());
  for (const auto& [name, pod] : pods_) CHECK(names_.at(pod->uid()) == name);
  for (const auto& [uid, assumed] : assumed_) {
    CHECK(assumed.pod->uid() == uid && next_expiry_ <= assumed.expires);
  }
  queue_.check_invariants();
}

}  // namespace holdfast::sync::schedule
