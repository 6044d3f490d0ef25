// A plausible result of a run with any number of nodes, for tests of what shows results.

#pragma once

#include <algorithm>

#include "agent/lab/result/result.h"

namespace holdfast::test {

struct FleetShape {
  int sites = 2;
  int nodes_per_site = 3;
  int pods_per_node = 2;
};

// Two hours. The link of the first third of the sites (at least one) is cut from 10m to 57m. Their
// even nodes are tainted after 40 s, and of each of those one pod is evicted 5m later. The first
// node of the last site loses its power and restarts one pod.
[[nodiscard]] inline agent::lab::RunResult fleet_result(const FleetShape& shape) {
  using namespace agent::lab;
  using std::chrono::minutes;
  using std::chrono::seconds;
  RunResult result{.scenario = "outage",
                   .about = "the uplinks of some sites fail",
                   .mode = "sim",
                   .seed = 7,
                   .duration = minutes(120)};
  result.settings = {{"cloud.node-monitor-grace-period", "40s"}, {"edge.offline-after", "10s"}};
  Series evictions{"evictions", minutes(1), std::vector<double>(120)};
  Series requests{"requests", minutes(1), std::vector<double>(120)};
  WorkloadResult web{.name = "deployment/web"};
  const int cut_sites = std::max(shape.sites / 3, 1);
  for (int site = 0; site < shape.sites; ++site) {
    const std::string site_name = "site-" + std::to_string(site + 1);
    const bool is_cut = site < cut_sites;
    if (is_cut) {
      result.faults.push_back({minutes(10), minutes(57), "cut " + site_name, site_name});
    }
    for (int number = 0; number < shape.nodes_per_site; ++number) {
      NodeResult node{.name = site_name + "-" + std::to_string(number + 1), .site = site_name};
      const bool is_tainted = is_cut && number % 2 == 0;
      const bool is_off = site + 1 == shape.sites && number == 0;
      node.ready = {{seconds(3), result.duration, "True"}};
      if (is_cut) {
        node.link = {{minutes(10), minutes(57), "cut"}};
        node.ready = {{seconds(3), seconds(640), "True"},
                      {seconds(640), minutes(57), "Unknown"},
                      {minutes(57), result.duration, "True"}};
      }
      if (is_tainted) node.taints = {{seconds(640), minutes(57), "unreachable"}};
      if (is_cut && !is_tainted) node.withheld = {{seconds(640), minutes(57), "autonomous"}};
      if (is_off) node.power = {{minutes(70), minutes(72), "off"}};
      for (int index = 0; index < shape.pods_per_node; ++index) {
        const std::string id = node.name + "-" + std::to_string(index);
        PodResult pod{.name = "default/web-" + id,
                      .uid = "uid-" + id,
                      .workload = web.name,
                      .node = node.name,
                      .site = site_name,
                      .created = seconds(1)};
        pod.running = {{seconds(5), seconds(9), "starting"},
                       {seconds(9), result.duration, "ready"}};
        ++web.wanted;
        if (is_tainted && index == 0) {
          pod.evicted = seconds(940);
          pod.deleted = minutes(58);
          pod.running.back().end = minutes(57);
          pod.running.push_back({minutes(57), minutes(58), "stopping"});
          ++web.evicted;
          web.unavailable += seconds(30);
          ++evictions.values[15];
        }
        if (is_off && index == 0) {
          pod.restarts = 1;
          pod.running = {{seconds(5), seconds(9), "starting"},
                         {seconds(9), minutes(70), "ready"},
                         {minutes(72), seconds(4325), "starting"},
                         {seconds(4325), result.duration, "ready"}};
          ++web.restarted;
          web.unavailable += seconds(125);
        }
        result.pods.push_back(std::move(pod));
      }
      result.nodes.push_back(std::move(node));
    }
  }
  result.faults.push_back(
      {minutes(70), minutes(72), "power off", "site-" + std::to_string(shape.sites) + "-1"});
  for (std::size_t minute = 0; minute < 120; ++minute) {
    const bool is_outage = minute >= 10 && minute < 57;
    requests.values[minute] = static_cast<double>(result.nodes.size()) * (is_outage ? 7 : 10);
  }
  web.shortfall = {{minutes(70), seconds(4325), "1"}};
  result.workloads = {web};
  const std::uint64_t nodes = result.nodes.size();
  result.requests = {
      {"lease", nodes * 720, nodes * 720 * 400}, {"watch", 0, 0}, {"taint", nodes, nodes * 900}};
  result.series = {evictions, requests};
  result.expectations = {{"no pod of site-2 restarts", false, "1 restart: default/web at 1h10m"},
                         {"at most 200 requests/s", true, "20"}};
  result.events = 48210;
  return result;
}

}  // namespace holdfast::test
