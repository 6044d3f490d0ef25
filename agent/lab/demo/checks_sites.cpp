// The checks of the second act: what the cloud does when one site and when both lose their links.

#include <algorithm>
#include <map>
#include <set>

#include "agent/lab/demo/checks.h"
#include "agent/lab/demo/cluster_snapshot.h"
#include "agent/lab/demo/words.h"

namespace holdfast::agent::demo {
namespace {

// The tolerance for delayed observations.
constexpr Duration lateness = std::chrono::milliseconds(300);

bool executes(const NodeSeen& node) {
  return std::any_of(node.taints.begin(), node.taints.end(),
                     [](const std::string& taint) { return taint.ends_with(":NoExecute"); });
}

// When each of these nodes was first tainted NoExecute after `from`.
std::map<std::string, DemoTime> tainted_at(const History& history,
                                           const std::vector<std::string>& nodes, DemoTime from) {
  std::map<std::string, DemoTime> found;
  for (const NodeSeen& node : history.nodes) {
    const bool ours = std::find(nodes.begin(), nodes.end(), node.name) != nodes.end();
    if (ours && node.at > from && executes(node)) found.emplace(node.name, node.at);
  }
  return found;
}

struct Eviction {
  PodSeen pod;
  DemoTime at{};
};

// The pods of these nodes whose deletion was first seen after `from` and not after `until`.
std::vector<Eviction> evicted(const History& history, const std::vector<std::string>& nodes,
                              DemoTime from, DemoTime until) {
  std::map<std::string, Eviction> first;
  for (const PodSeen& pod : history.pods) {
    const bool ours = std::find(nodes.begin(), nodes.end(), pod.node) != nodes.end();
    if (ours && (pod.deleting || pod.gone)) first.emplace(pod.uid, Eviction{pod, pod.at});
  }
  std::vector<Eviction> found;
  for (const auto& [uid, eviction] : first) {
    if (eviction.at > from && eviction.at <= until) found.push_back(eviction);
  }
  return found;
}

std::size_t pods_of(const History& history, const std::vector<std::string>& nodes) {
  std::set<std::string> uids;
  for (const PodSeen& pod : history.pods) {
    if (std::find(nodes.begin(), nodes.end(), pod.node) != nodes.end()) uids.insert(pod.uid);
  }
  return uids.size();
}

}  // namespace

std::vector<std::string> DemoSetup::nodes_of(const std::string& site) const {
  std::vector<std::string> names;
  for (int number = 1; number <= site_nodes; ++number) {
    names.push_back(site + "-" + std::to_string(number));
  }
  return names;
}

std::vector<std::string> DemoSetup::nodes_of_both() const {
  std::vector<std::string> names = nodes_of(first_site);
  for (const std::string& name : nodes_of(other_site)) names.push_back(name);
  return names;
}

CheckResult check_site_evicted_slowly(const History& history, const DemoSetup& setup) {
  CheckResult result{"A site without a link is evicted node by node, at the eviction rate"};
  const auto cut = history.when(DemoEvent::site_cut);
  const auto dark = history.when(DemoEvent::all_unknown);
  if (!cut || !dark) {
    result.detail = not_played;
    return result;
  }
  const auto nodes = setup.nodes_of(setup.first_site);
  const auto tainted = tainted_at(history, nodes, *cut);
  std::vector<DemoTime> times;
  times.reserve(tainted.size());
  for (const auto& [node, at] : tainted) times.push_back(at);
  std::sort(times.begin(), times.end());
  const auto turn =
      std::chrono::duration_cast<Duration>(std::chrono::duration<double>(1 / setup.eviction_rate));
  for (std::size_t i = 1; i < times.size(); ++i) {
    const DemoTime earliest = times[0] + turn * static_cast<std::int64_t>(i) - lateness;
    if (times[i] < earliest) result.detail = "a node was tainted too early: " + seconds(times[i]);
  }
  const auto gone = evicted(history, nodes, *cut, *dark);
  for (const Eviction& eviction : gone) {
    const auto at = tainted.find(eviction.pod.node);
    if (at == tainted.end() || eviction.at < at->second + setup.site_patience - lateness) {
      result.detail = eviction.pod.name + " was evicted too early";
    }
  }
  if (times.size() < 2) result.detail = std::to_string(times.size()) + " nodes were tainted";
  if (gone.empty()) result.detail = "no pod was evicted";
  result.held = result.detail.empty();
  if (result.held) {
    result.detail = std::to_string(times.size()) + " of " + std::to_string(nodes.size()) +
                    " nodes in " + seconds(times.back() - times.front()) + ", " +
                    std::to_string(gone.size()) + " pods evicted";
  }
  return result;
}

CheckResult check_total_outage_evicts_nothing(const History& history, const DemoSetup& setup) {
  CheckResult result{"When no site has a link, nothing is evicted any more"};
  const auto cut = history.when(DemoEvent::site_cut);
  const auto dark = history.when(DemoEvent::all_unknown);
  const auto closed = history.when(DemoEvent::closed);
  if (!cut || !dark || !closed) {
    result.detail = not_played;
    return result;
  }
  const auto nodes = setup.nodes_of_both();
  for (const Eviction& eviction : evicted(history, nodes, *dark + lateness, *closed)) {
    result.detail = eviction.pod.name + " was evicted after all links were cut";
  }
  const auto others = setup.nodes_of(setup.other_site);
  for (const Eviction& eviction : evicted(history, others, *cut, *closed)) {
    result.detail = eviction.pod.name + " was evicted";
  }
  const std::size_t all = pods_of(history, nodes);
  const std::size_t lost = evicted(history, nodes, *cut, *closed).size();
  if (all <= lost) result.detail = "no pod was left to keep";
  result.held = result.detail.empty();
  if (result.held) {
    result.detail = std::to_string(all - lost) + " of " + std::to_string(all) + " pods were kept";
  }
  return result;
}

CheckResult check_sites_recovered(const History& history, const DemoSetup& setup) {
  CheckResult result{"In the end all nodes of both sites are Ready without taints"};
  const auto closed = history.when(DemoEvent::closed);
  if (!closed) {
    result.detail = not_played;
    return result;
  }
  ClusterSnapshot snapshot;
  for (const NodeSeen& seen : history.nodes) {
    if (seen.at <= *closed) snapshot.take(seen);
  }
  const auto nodes = setup.nodes_of_both();
  for (const std::string& node : nodes) {
    if (snapshot.ready(node) != "True") result.detail = node + " is not Ready";
    if (snapshot.tainted(node, "")) result.detail = node + " is tainted";
  }
  result.held = result.detail.empty();
  if (result.held) result.detail = std::to_string(nodes.size()) + " nodes Ready";
  return result;
}

}  // namespace holdfast::agent::demo
