#include "agent/lab/sim/sim_options.h"

#include "agent/lab/scenario/configuration.h"

namespace holdfast::agent::lab::sim {

Result<SimOptions> options_of(const Scenario& scenario, std::uint64_t seed) {
  TRY(const Configuration configured, configuration_of(scenario));
  SimOptions options;
  options.seed = seed;
  options.cloud.rules = configured.rules;
  options.cloud.enabled = configured.controllers;
  const EdgeOptions& edge = configured.edge;
  options.edge.link.probe_interval = edge.lease_renew_interval;
  options.edge.link.probe_deadline = edge.probe_deadline;
  options.edge.link.probe_backoff_min = edge.probe_backoff_min;
  options.edge.link.probe_backoff_max = edge.probe_backoff_max;
  options.edge.kubelet_grace = edge.kubelet_grace;
  options.edge.read_deadline = edge.read_deadline;
  options.edge.write_deadline = edge.write_deadline;
  options.edge.rejoin_jitter = edge.rejoin_jitter;
  options.edge.flush_interval = edge.flush_interval;
  return options;
}

}  // namespace holdfast::agent::lab::sim
