// The fleet of `holdfast-lab up`: from its flags, or from a scenario file whose events and
// expectations are left out.

#pragma once

#include <string>
#include <vector>

#include "agent/lab/scenario/scenario.h"
#include "platform/result.h"

namespace holdfast::agent::lab::up {

struct FleetSettings {
  int nodes = 0;                              // of one site called "edge"; 0: not given
  std::vector<std::string> sites = {};        // "a:2"; "b" has one node
  std::string scenario = {};                  // a file
  std::vector<std::string> cloud_flags = {};  // "node-monitor-grace-period=10s"
  std::vector<std::string> edge_flags = {};
};

// Every node is a few processes on this machine.
inline constexpr int up_nodes_max = 50;

// Errors: invalid, naming the flag; those of scenario files.
[[nodiscard]] Result<Scenario> fleet_of(const FleetSettings& settings);

}  // namespace holdfast::agent::lab::up
