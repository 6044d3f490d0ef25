// Plays a scenario in virtual time: the production rules over a modelled API server, network and
// disk, in one thread. The same scenario and seed give the same run, event by event.

#pragma once

#include <functional>
#include <string_view>

#include "agent/lab/result/result.h"
#include "agent/lab/scenario/scenario.h"
#include "agent/lab/sim/cloud.h"
#include "agent/lab/sim/edge.h"

namespace holdfast::agent::lab::sim {

struct SimOptions {
  std::uint64_t seed = 1;
  CloudConfig cloud;
  EdgeConfig edge;
  // Within this time after the last fault everything must be as it was before.
  Duration converge_within = std::chrono::minutes(10);
  // Skips the heartbeats of nodes that are healthy and not about to change; see quiet.h. What
  // happens is the same with and without, except that the requests that are skipped do not count.
  bool skips_heartbeats = false;
  // Each node draws from random sources of its own, so that runs with and without skipped
  // heartbeats can be compared. Implied by skips_heartbeats.
  bool own_random = false;
  // Receives each line of the trace. Empty: none.
  std::function<void(std::string_view line)> trace;
};

struct SimOutcome {
  RunResult result;
  std::uint64_t digest = 0;              // of the trace: equal for equal runs
  std::uint64_t skipped_heartbeats = 0;  // renewals of leases
};

// The scenario must have been checked, as read_scenario() does.
[[nodiscard]] SimOutcome simulate(const Scenario& scenario, const SimOptions& options);

}  // namespace holdfast::agent::lab::sim
