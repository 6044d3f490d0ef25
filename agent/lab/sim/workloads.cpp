#include "agent/lab/sim/workloads.h"

#include <algorithm>
#include <utility>

#include "agent/lab/sim/objects.h"

namespace holdfast::agent::lab::sim {
namespace {

// From a change until the controllers act on it.
constexpr Duration reaction = std::chrono::milliseconds(100);
constexpr Duration retry = std::chrono::seconds(1);

bool is_active(const sync::Pod& pod) {
  const std::string& phase = pod.status.phase;
  return !pod.metadata.deletion_timestamp && phase != "Succeeded" && phase != "Failed";
}

int revision_of(const sync::Pod& pod) {
  const std::string* found = pod.metadata.labels.find(revision_label);
  return found == nullptr ? 0 : std::stoi(*found);
}

bool runs_on(const Workload& workload, const sync::Node& node) {
  if (workload.on.empty()) return true;
  const std::string* site = node.metadata.labels.find(site_label);
  return site != nullptr && *site == workload.on;
}

// Pods that are not ready go first, as a ReplicaSet deletes them; then the youngest.
void order_for_deletion(std::vector<PodPtr>& pods) {
  std::stable_sort(pods.begin(), pods.end(), [](const PodPtr& left, const PodPtr& right) {
    const auto rank = [](const PodPtr& pod) {
      return std::make_pair(!pod->spec.node_name.empty(), is_ready(*pod));
    };
    return rank(left) < rank(right);
  });
}

}  // namespace

Workloads::Workloads(Engine& engine, Server& server, const std::vector<Workload>& workloads)
    : engine_(engine), server_(server) {
  for (const Workload& workload : workloads) states_[workload.name].workload = workload;
  server_.on_change([this](const Change& change) { observe(change); });
}

void Workloads::start() {
  for (auto& [name, state] : states_) wake(state);
}

const Workload* Workloads::find(const std::string& name) const {
  const auto found = states_.find(name);
  return found == states_.end() ? nullptr : &found->second.workload;
}

const Workload* Workloads::owner_of(const sync::Pod& pod) const {
  const auto& owners = pod.metadata.owner_references;
  return owners.empty() ? nullptr : find(owners.front().name);
}

int Workloads::wanted(const std::string& name) const {
  const State& state = states_.at(name);
  return state.workload.kind == WorkloadKind::daemon_set ? state.nodes : state.workload.replicas;
}

std::vector<sync::PodDisruptionBudget> Workloads::budgets() const {
  std::vector<sync::PodDisruptionBudget> budgets;
  for (const auto& [name, state] : states_) {
    if (!state.workload.min_available) continue;
    const std::vector<PodPtr> pods = active(state);
    const auto ready =
        std::count_if(pods.begin(), pods.end(), [](const PodPtr& each) { return is_ready(*each); });
    sync::PodDisruptionBudget budget;
    budget.metadata.name = name;
    budget.metadata.namespace_name = state.workload.namespace_name;
    budget.spec.selector.emplace();
    budget.spec.selector->match_labels.set(workload_label, name);
    budget.status.disruptions_allowed =
        std::max(0, static_cast<int>(ready) - *state.workload.min_available);
    budgets.push_back(std::move(budget));
  }
  return budgets;
}

bool Workloads::may_evict(const sync::Pod& pod) const {
  const Workload* owner = owner_of(pod);
  if (owner == nullptr || !owner->min_available) return true;
  const std::vector<PodPtr> pods = active(states_.at(owner->name));
  const auto ready =
      std::count_if(pods.begin(), pods.end(), [](const PodPtr& each) { return is_ready(*each); });
  return !is_ready(pod) || ready > *owner->min_available;
}

void Workloads::roll_out(const std::string& name) {
  const auto state = states_.find(name);
  if (state == states_.end()) return;
  ++state->second.revision;
  wake(state->second);
}

void Workloads::scale(const std::string& name, int replicas) {
  const auto state = states_.find(name);
  if (state == states_.end()) return;
  state->second.workload.replicas = replicas;
  wake(state->second);
}

void Workloads::observe(const Change& change) {
  if (change.node) {
    if (change.type == ChangeType::modified) return;
    for (auto& [name, state] : states_) {
      if (state.workload.kind == WorkloadKind::daemon_set) observe_node(state, change);
    }
    return;
  }
  if (!change.pod || change.pod->metadata.owner_references.empty()) return;
  const auto found = states_.find(change.pod->metadata.owner_references.front().name);
  if (found == states_.end()) return;
  State& state = found->second;
  if (change.type == ChangeType::deleted) {
    state.pods.erase(key_of(*change.pod));
  } else {
    state.pods.insert(key_of(*change.pod));
  }
  if (state.workload.kind == WorkloadKind::daemon_set) note_pod(state, change);
  const bool has_succeeded = change.pod->status.phase == "Succeeded" &&
                             (!change.pod_before || change.pod_before->status.phase != "Succeeded");
  state.succeeded += has_succeeded ? 1 : 0;
  wake(state);
}

void Workloads::observe_node(State& state, const Change& change) {
  wake(state);
  if (!runs_on(state.workload, *change.node)) return;
  const std::string& node = change.node->metadata.name;
  const bool added = change.type == ChangeType::added;
  state.nodes += added ? 1 : -1;
  state.bare.erase(node);
  if (added && !has_pod(state, node)) state.bare.insert(node);
}

void Workloads::note_pod(State& state, const Change& change) {
  const std::string& name = change.pod->spec.node_name;
  if (change.type != ChangeType::deleted) {
    state.bare.erase(name);
    return;
  }
  const NodePtr node = server_.node(name);
  if (node && runs_on(state.workload, *node) && !has_pod(state, name)) state.bare.insert(name);
}

bool Workloads::has_pod(const State& state, const std::string& node) const {
  const std::vector<PodPtr> pods = server_.pods_of(node);
  return std::any_of(pods.begin(), pods.end(),
                     [&state](const PodPtr& pod) { return state.pods.contains(key_of(*pod)); });
}

void Workloads::wake(State& state) {
  if (std::exchange(state.due, true)) return;
  engine_.after(reaction, [this, &state] {
    state.due = false;
    reconcile(state);
  });
}

// The controllers reach the API server as long as it runs.
void Workloads::reconcile(State& state) {
  if (server_.is_silent() || server_.has(ApiFault::unavailable)) {
    engine_.after(retry, [this, &state] { wake(state); });
    return;
  }
  switch (state.workload.kind) {
    case WorkloadKind::deployment:
      return reconcile_deployment(state);
    case WorkloadKind::daemon_set:
      return reconcile_daemon_set(state);
    case WorkloadKind::stateful_set:
      return reconcile_stateful_set(state);
    case WorkloadKind::job:
      return reconcile_job(state);
  }
}

std::vector<PodPtr> Workloads::active(const State& state) const {
  std::vector<PodPtr> found;
  for (const std::string& key : state.pods) {
    const PodPtr pod = server_.pod(key);
    if (pod && is_active(*pod)) found.push_back(pod);
  }
  return found;
}

void Workloads::create(State& state, sync::Pod pod) {
  ++state.names;
  (void)server_.create_pod(std::move(pod), Actor::workloads);
}

// A rolling update: at most a quarter of the pods more than wanted, and at most a quarter less.
void Workloads::reconcile_deployment(State& state) {
  const int wanted = state.workload.replicas;
  std::vector<PodPtr> pods = active(state);
  std::vector<PodPtr> old;
  int current = 0;
  int ready = 0;
  for (const PodPtr& pod : pods) {
    ready += is_ready(*pod) ? 1 : 0;
    if (revision_of(*pod) == state.revision) {
      ++current;
    } else {
      old.push_back(pod);
    }
  }
  const int surge = old.empty() ? 0 : (wanted + 3) / 4;
  int room = wanted + surge - static_cast<int>(pods.size());
  for (; room > 0 && current < wanted; --room, ++current) {
    create(state,
           make_pod(state.workload, state.workload.name + "-" + std::to_string(state.names + 1),
                    state.revision));
  }
  int spare = old.empty() ? static_cast<int>(pods.size()) - wanted : ready - (wanted - wanted / 4);
  std::vector<PodPtr>& surplus = old.empty() ? pods : old;
  order_for_deletion(surplus);
  for (const PodPtr& pod : surplus) {
    const bool costs = old.empty() || is_ready(*pod);
    if (costs && spare-- <= 0) continue;
    (void)server_.delete_pod(key_of(*pod), pod->metadata.uid, Actor::workloads);
  }
}

// One pod on each node of its site; an old one goes before the new one comes.
void Workloads::reconcile_daemon_set(State& state) {
  if (state.revision == 1) return create_on_bare(state);  // Nothing can be outdated.
  PodPtr outdated;
  bool is_replacing = false;  // one pod at a time
  for (const std::string& key : state.pods) {
    const PodPtr pod = server_.pod(key);
    if (!pod) continue;
    is_replacing = is_replacing || !is_active(*pod);
    if (is_ready(*pod) && revision_of(*pod) != state.revision) outdated = pod;
  }
  if (outdated && !is_replacing) {
    (void)server_.delete_pod(key_of(*outdated), outdated->metadata.uid, Actor::workloads);
  }
  create_on_bare(state);
}

void Workloads::create_on_bare(State& state) {
  const std::set<std::string> bare = state.bare;  // which each creation changes
  for (const std::string& name : bare) {
    sync::Pod pod =
        make_pod(state.workload, state.workload.name + "-" + std::to_string(state.names + 1),
                 state.revision);
    pod.spec.node_name = name;
    create(state, std::move(pod));
  }
}

// One after the other: an ordinal is created when no pod of that name is left and all lower
// ordinals are ready.
void Workloads::reconcile_stateful_set(State& state) {
  for (int ordinal = 0; ordinal < state.workload.replicas; ++ordinal) {
    const std::string name = state.workload.name + "-" + std::to_string(ordinal);
    const PodPtr pod = server_.pod(state.workload.namespace_name + "/" + name);
    if (!pod) {
      create(state, make_pod(state.workload, name, state.revision));
      return;
    }
    if (!is_active(*pod) || !is_ready(*pod)) return;
  }
  for (int ordinal = state.workload.replicas; ordinal-- > 0;) {
    const std::string name = state.workload.name + "-" + std::to_string(ordinal);
    const PodPtr pod = server_.pod(state.workload.namespace_name + "/" + name);
    if (revision_of(*pod) == state.revision) continue;
    (void)server_.delete_pod(key_of(*pod), pod->metadata.uid, Actor::workloads);
    return;
  }
}

void Workloads::reconcile_job(State& state) {
  const auto running = static_cast<int>(active(state).size());
  for (int missing = state.workload.replicas - state.succeeded - running; missing > 0; --missing) {
    create(state,
           make_pod(state.workload, state.workload.name + "-" + std::to_string(state.names + 1),
                    state.revision));
  }
}

}  // namespace holdfast::agent::lab::sim
