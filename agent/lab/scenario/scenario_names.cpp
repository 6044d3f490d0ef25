#include "agent/lab/scenario/scenario_names.h"

#include "platform/check.h"
#include "platform/text.h"

namespace holdfast::agent::lab {
namespace {

constexpr std::string_view all_name = "all";
constexpr std::string_view cloud_name = "cloud";
constexpr std::string_view api_server_name = "api-server";

// "a site, a node or all".
std::string kinds_text(NameKinds kinds) {
  std::vector<std::string_view> words;
  if ((kinds & name_kind::workload) != 0) words.emplace_back("a workload");
  if ((kinds & name_kind::site) != 0) words.emplace_back("a site");
  if ((kinds & name_kind::node) != 0) words.emplace_back("a node");
  if ((kinds & name_kind::all) != 0) words.emplace_back(all_name);
  if ((kinds & name_kind::cloud) != 0) words.emplace_back(cloud_name);
  if ((kinds & name_kind::api_server) != 0) words.emplace_back(api_server_name);
  return alternatives(words);
}

}  // namespace

std::string_view kind_name(WorkloadKind kind) {
  switch (kind) {
    case WorkloadKind::deployment:
      return "deployment";
    case WorkloadKind::daemon_set:
      return "daemonset";
    case WorkloadKind::stateful_set:
      return "statefulset";
    case WorkloadKind::job:
      return "job";
  }
  UNREACHABLE();
}

NodeName split_node_name(std::string_view name) {
  const std::size_t dash = name.rfind('-');
  if (dash == std::string_view::npos) return {};
  const std::string_view digits = name.substr(dash + 1);
  const auto number = parse_int<int>(digits);
  if (!number || *number < 1 || digits.front() == '0') return {};
  return {name.substr(0, dash), *number};
}

ScenarioNames ScenarioNames::of_sites(const Scenario& scenario) {
  ScenarioNames names;
  for (const Site& site : scenario.sites) names.sites_.emplace(site.name, &site);
  return names;
}

ScenarioNames::ScenarioNames(const Scenario& scenario) : ScenarioNames(of_sites(scenario)) {
  for (const Workload& workload : scenario.workloads) {
    workloads_.emplace(workload.name, &workload);
  }
}

const Site* ScenarioNames::site_of(std::string_view name) const {
  if (const auto found = sites_.find(name); found != sites_.end()) return found->second;
  const auto [site, number] = split_node_name(name);
  const auto found = sites_.find(site);
  if (number == 0 || found == sites_.end() || number > found->second->nodes) return nullptr;
  return found->second;
}

const Workload* ScenarioNames::workload(std::string_view name) const {
  const std::size_t slash = name.find('/');
  const std::string_view kind = slash == std::string_view::npos ? "" : name.substr(0, slash);
  const auto found = workloads_.find(kind.empty() ? name : name.substr(slash + 1));
  if (found == workloads_.end()) return nullptr;
  if (!kind.empty() && kind != kind_name(found->second->kind)) return nullptr;
  return found->second;
}

NameKinds ScenarioNames::kind_of(std::string_view name) const {
  if (name == all_name) return name_kind::all;
  if (name == cloud_name) return name_kind::cloud;
  if (name == api_server_name) return name_kind::api_server;
  if (sites_.contains(name)) return name_kind::site;
  if (site_of(name) != nullptr) return name_kind::node;
  return workload(name) != nullptr ? name_kind::workload : 0;
}

std::vector<std::string_view> ScenarioNames::candidates(NameKinds allowed) const {
  std::vector<std::string_view> names;
  if ((allowed & name_kind::all) != 0) names.emplace_back(all_name);
  if ((allowed & name_kind::cloud) != 0) names.emplace_back(cloud_name);
  if ((allowed & name_kind::api_server) != 0) names.emplace_back(api_server_name);
  if ((allowed & (name_kind::site | name_kind::node)) != 0) {
    for (const auto& [name, site] : sites_) names.push_back(name);
  }
  if ((allowed & name_kind::workload) != 0) {
    for (const auto& [name, workload] : workloads_) names.push_back(name);
  }
  return names;
}

// The nodes of all sites that have this number.
std::vector<std::string> ScenarioNames::nodes_numbered(int number) const {
  std::vector<std::string> names;
  for (const auto& [name, site] : sites_) {
    if (number > site->nodes) continue;
    names.push_back(std::string(name) + "-" + std::to_string(number));
  }
  return names;
}

std::string ScenarioNames::complaint(std::string_view name, NameKinds allowed,
                                     const ScenarioProblems& problems) const {
  const NameKinds kind = kind_of(name);
  if ((kind & allowed) != 0) return {};
  if (kind != 0) {
    const bool has_name = (kind & (name_kind::site | name_kind::node | name_kind::workload)) != 0;
    return "expected " + kinds_text(allowed) + ", not " + kinds_text(kind) +
           (has_name ? " (" + std::string(name) + ")" : "");
  }
  const auto [site, number] = split_node_name(name);
  const auto found = sites_.find(site);
  if (number > 0 && found != sites_.end() && (allowed & name_kind::node) != 0) {
    return "unknown node " + quoted_text(name) + ": the last one of site " + std::string(site) +
           " is " + std::string(site) + "-" + std::to_string(found->second->nodes);
  }
  std::vector<std::string_view> known = candidates(allowed);
  std::vector<std::string> nodes;
  if (number > 0 && (allowed & name_kind::node) != 0) nodes = nodes_numbered(number);
  known.insert(known.end(), nodes.begin(), nodes.end());
  const std::string hint = problems.hint(name, known);
  return "unknown name " + quoted_text(name) +
         (hint.empty() ? "; expected " + kinds_text(allowed) : hint);
}

}  // namespace holdfast::agent::lab
