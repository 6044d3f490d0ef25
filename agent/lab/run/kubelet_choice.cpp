#include "agent/lab/run/kubelet_choice.h"

#include "agent/lab/cluster/cluster.h"
#include "platform/text.h"

namespace holdfast::agent::lab::run {
namespace {

// Adds the nodes of the site that `name` is or has. Returns whether that is so.
bool add_named(const Site& site, std::string_view name, std::set<std::string>& nodes) {
  const std::vector<std::string> all = cluster::nodes_of(site);
  if (name == site.name || name == "all") {
    nodes.insert(all.begin(), all.end());
    return true;
  }
  for (const std::string& each : all) {
    if (each == name) return nodes.insert(each), true;
  }
  return false;
}

Status check_site(const Site& site, const KubeletSurroundings& around) {
  if (site.agent == NodeAgent::holdfast || around.server_has_tls) return {};
  return fail(Errc::invalid, "--kubelet: the kubelets of site " + site.name +
                                 " have no holdfast-edge (agent: none), and talk to an API server "
                                 "only over TLS: use --api-server, too");
}

}  // namespace

Result<std::set<std::string>> kubelet_nodes(const Scenario& scenario, const std::string& on,
                                            const KubeletSurroundings& around) {
  if (around.speed != 1) {
    return fail(Errc::invalid, "--kubelet: a kubelet cannot be played faster; omit --speed");
  }
  if (!around.namespaces) {
    return fail(Errc::invalid,
                "--kubelet: a kubelet needs a network namespace of its own; run as root, and "
                "without --namespaces=false");
  }
  const std::string wanted = on.empty() ? "all" : on;
  std::set<std::string> nodes;
  for (const std::string_view name : split(wanted, ',')) {
    bool is_known = false;
    for (const Site& site : scenario.sites) {
      if (!add_named(site, name, nodes)) continue;
      is_known = true;
      if (auto fits = check_site(site, around); !fits) return fail(fits.error());
    }
    if (!is_known) {
      return fail(Errc::invalid,
                  "--kubelet-on: the scenario has no site or node \"" + std::string(name) + "\"");
    }
  }
  return nodes;
}

}  // namespace holdfast::agent::lab::run
