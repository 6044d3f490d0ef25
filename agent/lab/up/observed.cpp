#include "agent/lab/up/observed.h"

#include <algorithm>

#include "agent/lab/up/upcoming.h"
#include "sync/model/find.h"

namespace holdfast::agent::lab::up {
namespace {

using PodsOfNodes = std::map<std::string, std::vector<const sync::Pod*>>;

bool is_pod_ready(const sync::Pod& pod) {
  const sync::PodCondition* ready = find_condition(pod.status, "Ready");
  return ready != nullptr && ready->status == "True";
}

// As kubectl shows it, in short.
Shown state_of(const sync::Pod& pod) {
  if (pod.metadata.deletion_timestamp) return {"Terminating", Tone::soon};
  for (const sync::ContainerStatus& container : pod.status.container_statuses) {
    if (!container.state.waiting || container.state.waiting->reason.empty()) continue;
    const std::string& reason = container.state.waiting->reason;
    const bool starts = reason == "ContainerCreating" || reason == "PodInitializing";
    return {reason, starts ? Tone::soon : Tone::bad};
  }
  const std::string& phase = pod.status.phase;
  if (phase == "Failed" || phase == "Unknown") return {phase, Tone::bad};
  if (phase == "Pending") return {phase, Tone::soon};
  return {phase.empty() ? "-" : phase, Tone::plain};
}

PodView view_of(const sync::Pod& pod) {
  PodView view{.name = pod.metadata.namespace_name + "/" + pod.metadata.name,
               .uid = pod.metadata.uid,
               .node = pod.spec.node_name,
               .state = state_of(pod),
               .ready = is_pod_ready(pod),
               .restarts = 0};
  for (const sync::ContainerStatus& container : pod.status.container_statuses) {
    view.restarts += container.restart_count;
  }
  return view;
}

Shown ready_of(const sync::Node* node) {
  if (node == nullptr) return {"-", Tone::plain};
  const sync::NodeCondition* ready = find_condition(node->status, "Ready");
  if (ready == nullptr) return {"-", Tone::soon};
  return {ready->status, ready->status == "True" ? Tone::plain : Tone::bad};
}

Shown agent_of(const Member& member, const AgentSeen* agent, const std::string* paused) {
  if (paused != nullptr && !paused->empty()) return {*paused, Tone::soon};
  if (member.site.empty()) return {"-", Tone::plain};
  if (!member.has_agent) return {"none", Tone::plain};
  if (agent == nullptr) return {"-", Tone::plain};
  if (!agent->answers) return {"down", Tone::bad};
  if (agent->link == "connected") return {agent->link, Tone::plain};
  return {agent->link, agent->link == "offline" ? Tone::bad : Tone::soon};
}

std::vector<std::string> taints_of(const sync::Node& node) {
  std::vector<std::string> taints;
  taints.reserve(node.spec.taints.size());
  for (const sync::Taint& taint : node.spec.taints) {
    taints.push_back(taint.key.substr(taint.key.rfind('/') + 1) + ":" + taint.effect);
  }
  std::sort(taints.begin(), taints.end());
  return taints;
}

template <class Map>
const typename Map::mapped_type* find_in(const Map& map, const std::string& key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

NodeView node_view(const Observed& observed, const Member& member, const PodsOfNodes& pods,
                   MonoTime now) {
  const sync::Node* node = find_in(observed.nodes, member.name);
  const Shown* link = find_in(observed.links, member.name);
  const AgentSeen* agent = find_in(observed.agents, member.name);
  NodeView view{.name = member.name,
                .site = member.site,
                .link = link == nullptr ? Shown{"-", Tone::plain} : *link,
                .ready = ready_of(node),
                .agent = agent_of(member, agent, find_in(observed.paused, member.name)),
                .lease_age = {},
                .unsent = agent != nullptr && agent->answers ? agent->unsent : -1,
                .taints = {}};
  if (const LeaseSeen* lease = find_in(observed.leases, member.name)) {
    view.lease_age = now - lease->at;
  }
  if (node != nullptr) view.taints = taints_of(*node);
  const auto* held = find_in(pods, member.name);
  if (held == nullptr) return view;
  view.pods = static_cast<int>(held->size());
  view.pods_ready = static_cast<int>(std::count_if(
      held->begin(), held->end(), [](const sync::Pod* pod) { return is_pod_ready(*pod); }));
  return view;
}

// What happens first comes first; what is withheld comes last.
bool comes_before(const Upcoming& left, const Upcoming& right) {
  return left.when != right.when ? left.when < right.when : left.in < right.in;
}

}  // namespace

std::string seconds_text(Duration duration) {
  return format_duration(std::chrono::floor<std::chrono::seconds>(duration));
}

std::vector<Member> members_of(const Scenario& scenario) {
  std::vector<Member> members;
  for (const Site& site : scenario.sites) {
    for (int number = 1; number <= site.nodes; ++number) {
      members.push_back({.name = site.name + "-" + std::to_string(number),
                         .site = site.name,
                         .has_agent = site.agent == NodeAgent::holdfast});
    }
  }
  return members;
}

View view_of(const Observed& observed, const sync::lifecycle::Options& rules, Moment now) {
  View view;
  PodsOfNodes pods;
  for (const auto& [name, pod] : observed.pods) {
    view.pods.push_back(view_of(pod));
    if (!pod.spec.node_name.empty() && pod.status.phase != "Succeeded")
      pods[pod.spec.node_name].push_back(&pod);
  }
  auto members = observed.members;
  for (const auto& [name, node] : observed.nodes) {
    const auto is_it = [&name](const Member& member) { return member.name == name; };
    const bool known = std::any_of(members.begin(), members.end(), is_it);
    if (!known) members.push_back({.name = name, .site = {}});
  }
  for (const Member& member : members) {
    view.nodes.push_back(node_view(observed, member, pods, now.mono));
  }
  for (const auto& [name, node] : observed.nodes) {
    const auto coming = upcoming_on(node, pods[name], find_in(observed.leases, name), rules, now);
    view.upcoming.insert(view.upcoming.end(), coming.begin(), coming.end());
  }
  std::stable_sort(view.upcoming.begin(), view.upcoming.end(), comes_before);
  return view;
}

}  // namespace holdfast::agent::lab::up
