#include "agent/lab/up/fleet.h"

#include "agent/lab/scenario/scenario_file.h"
#include "platform/text.h"
#include "sync/wire/json.h"

namespace holdfast::agent::lab::up {
namespace {

constexpr int nodes_default = 2;

// The sites as a scenario file has them.
Result<std::string> sites_text(const FleetSettings& settings) {
  std::vector<std::string> sites = settings.sites;
  if (settings.nodes < 0) return fail(Errc::invalid, "--nodes: must be above zero");
  if (settings.nodes > 0 && !sites.empty()) {
    return fail(Errc::invalid, "--nodes and --sites exclude each other");
  }
  const int nodes = settings.nodes > 0 ? settings.nodes : nodes_default;
  if (sites.empty()) sites.push_back("edge:" + std::to_string(nodes));
  std::string text = "fleet:\n  sites:\n";
  for (const std::string& site : sites) {
    const std::size_t colon = site.find(':');
    const std::string name = site.substr(0, colon);
    const std::string count = colon == std::string::npos ? "1" : site.substr(colon + 1);
    if (name.empty() || !parse_int<int>(count)) {
      return fail(Errc::invalid, "--sites: " + quoted_text(site) + " is not NAME:NODES");
    }
    text += "  - {name: " + quoted_text(name) + ", nodes: " + count + "}\n";
  }
  return text;
}

// Options splits values at commas: a part without '=' belongs to the one before.
std::vector<std::string> joined_at_commas(const std::vector<std::string>& parts) {
  std::vector<std::string> flags;
  for (const std::string& part : parts) {
    if (flags.empty() || part.find('=') != std::string::npos) {
      flags.push_back(part);
    } else {
      flags.back() += "," + part;
    }
  }
  return flags;
}

// "cloud.node-monitor-grace-period=10s" for --set.
Result<std::vector<std::string>> overrides_of(const FleetSettings& settings) {
  std::vector<std::string> overrides;
  const auto add = [&overrides](const std::string& section, const std::vector<std::string>& flags,
                                const std::string& name) -> Status {
    for (const std::string& text : joined_at_commas(flags)) {
      const std::string flag = text.substr(text.starts_with("--") ? 2 : 0);
      const std::size_t equals = flag.find('=');
      if (equals == std::string::npos || equals == 0) {
        return fail(Errc::invalid, "--" + name + ": " + quoted_text(text) + " is not flag=value");
      }
      // A JSON string is a YAML string.
      std::string value;
      sync::wire::serialize_text_to(value, std::string_view(flag).substr(equals + 1));
      overrides.push_back(section + "." + flag.substr(0, equals + 1) + value);
    }
    return {};
  };
  if (auto added = add("cloud", settings.cloud_flags, "cloud-flag"); !added)
    return fail(added.error());
  if (auto added = add("edge", settings.edge_flags, "edge-flag"); !added)
    return fail(added.error());
  return overrides;
}

Result<Scenario> check_size(Scenario scenario) {
  int nodes = 0;
  for (const Site& site : scenario.sites) nodes += site.nodes;
  if (nodes <= up_nodes_max) return scenario;
  return fail(Errc::invalid, std::to_string(nodes) +
                                 " nodes are too many for this machine: at most " +
                                 std::to_string(up_nodes_max) +
                                 ", because each is a few processes; `holdfast-lab sim` and "
                                 "`holdfast-lab nodes` can do more");
}

}  // namespace

Result<Scenario> fleet_of(const FleetSettings& settings) {
  TRY(const std::vector<std::string> overrides, overrides_of(settings));
  if (!settings.scenario.empty()) {
    if (settings.nodes != 0 || !settings.sites.empty()) {
      return fail(Errc::invalid, "--scenario excludes --nodes and --sites");
    }
    TRY(Scenario scenario, read_scenario(settings.scenario, overrides));
    scenario.events.clear();
    scenario.expectations.clear();
    return check_size(std::move(scenario));
  }
  TRY(const std::string sites, sites_text(settings));
  const OpenBeside open = [](const std::string& name) -> Result<FileBeside> {
    return fail(Errc::not_found, name);
  };
  TRY(Scenario scenario, parse_scenario("", "name: up\nduration: 1h\n" + sites, overrides, open));
  return check_size(std::move(scenario));
}

}  // namespace holdfast::agent::lab::up
