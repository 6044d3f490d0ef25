// Plays a scenario faster than it is written: all durations are divided by the speed, all rates are
// multiplied by it.
//
// What cannot be scaled: the deadlines of requests below 250 ms, what the programs need themselves
// (starting a process, a round trip on this machine), and times that Kubernetes counts in whole
// seconds, which are rounded.

#pragma once

#include "agent/lab/cluster/access.h"
#include "agent/lab/scenario/scenario.h"
#include "platform/result.h"

namespace holdfast::agent::lab::run {

inline constexpr int speed_max = 1000;

struct FastScenario {
  Scenario scenario;                      // in real time; its maps of flags are unchanged
  cluster::Flags cloud;                   // of holdfast-cloud, with all that depends on time
  cluster::Flags edge;                    // of holdfast-edge
  cluster::Flags node;                    // of holdfast-node
  std::int64_t default_toleration = 300;  // seconds: what DefaultTolerationSeconds adds
};

// Errors: invalid, naming what would become too short, and the largest speed that is possible;
// those of the flags' own checks.
[[nodiscard]] Result<FastScenario> at_speed(const Scenario& scenario, int speed);

}  // namespace holdfast::agent::lab::run
