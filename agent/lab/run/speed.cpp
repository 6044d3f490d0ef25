#include "agent/lab/run/speed.h"

#include <algorithm>
#include <array>
#include <string>

#include "agent/cloud/settings.h"
#include "agent/lab/scenario/configuration.h"

namespace holdfast::agent::lab::run {
namespace {

using namespace std::chrono_literals;

// A flag that is a duration. It does not become shorter than `least`: if it `must` scale, the speed
// is impossible then; otherwise it stays at `least`, or as it was if it was shorter.
template <class Settings>
struct TimeFlag {
  std::string_view name;
  Duration Settings::*field;
  Duration least;
  bool must = false;
};

// Deadlines of requests: the machine does not answer faster because the scenario is played faster.
constexpr Duration answer_time = 250ms;
constexpr Duration lease_interval_min = 200ms;

constexpr std::array edge_times{
    TimeFlag<EdgeOptions>{"lease-renew-interval", &EdgeOptions::lease_renew_interval,
                          lease_interval_min, true},
    TimeFlag<EdgeOptions>{"lease-duration", &EdgeOptions::lease_duration, 1s, true},
    TimeFlag<EdgeOptions>{"read-deadline", &EdgeOptions::read_deadline, answer_time},
    TimeFlag<EdgeOptions>{"write-deadline", &EdgeOptions::write_deadline, answer_time},
    TimeFlag<EdgeOptions>{"probe-deadline", &EdgeOptions::probe_deadline, answer_time},
    TimeFlag<EdgeOptions>{"probe-backoff-min", &EdgeOptions::probe_backoff_min, 50ms},
    TimeFlag<EdgeOptions>{"probe-backoff-max", &EdgeOptions::probe_backoff_max, 100ms},
    TimeFlag<EdgeOptions>{"rejoin-jitter", &EdgeOptions::rejoin_jitter, 0ms},
    TimeFlag<EdgeOptions>{"flush-interval", &EdgeOptions::flush_interval, 50ms},
    TimeFlag<EdgeOptions>{"kubelet-grace", &EdgeOptions::kubelet_grace, 1s},
    TimeFlag<EdgeOptions>{"bookmark-interval", &EdgeOptions::bookmark_interval, 200ms}};

constexpr std::array cloud_times{
    TimeFlag<CloudSettings>{"node-monitor-period", &CloudSettings::node_monitor_period, 50ms, true},
    TimeFlag<CloudSettings>{"node-monitor-grace-period", &CloudSettings::node_monitor_grace_period,
                            1s, true},
    TimeFlag<CloudSettings>{"node-startup-grace-period", &CloudSettings::node_startup_grace_period,
                            1s},
    TimeFlag<CloudSettings>{"node-lease-duration", &CloudSettings::node_lease_duration, 0s},
    TimeFlag<CloudSettings>{"pod-eviction-timeout", &CloudSettings::pod_eviction_timeout, 0s},
    TimeFlag<CloudSettings>{"eviction-deadline", &CloudSettings::eviction_deadline, 0s}};

std::string milliseconds(Duration duration) {
  return std::to_string(std::chrono::ceil<std::chrono::milliseconds>(duration).count()) + "ms";
}

Error too_fast(const std::string& what, Duration value, Duration least, int speed) {
  const auto most = std::max<std::int64_t>(1, value / least);
  return Error{Errc::invalid,
               "--speed " + std::to_string(speed) + " makes " + what + " (" +
                   format_duration(value) + ") shorter than " + format_duration(least) +
                   "; the largest speed for it is " + std::to_string(most),
               {}};
}

template <class Settings, std::size_t size>
Status scale_times(const std::array<TimeFlag<Settings>, size>& times, const Settings& settings,
                   int speed, const std::string& program, cluster::Flags& flags) {
  for (const TimeFlag<Settings>& time : times) {
    const Duration value = settings.*time.field;
    Duration scaled = value / speed;
    if (scaled < time.least) {
      if (time.must) {
        return tl::unexpected(
            too_fast(program + " --" + std::string(time.name), value, time.least, speed));
      }
      scaled = std::min(value, time.least);
    }
    flags.emplace_back(time.name, milliseconds(scaled));
  }
  return {};
}

bool has(const std::map<std::string, std::string>& flags, const char* name) {
  return flags.contains(name);
}

// The scenario's own flags come first: those that depend on time are repeated after them.
cluster::Flags without(const std::map<std::string, std::string>& flags,
                       const std::vector<std::string>& names) {
  cluster::Flags kept;
  for (const auto& [name, value] : flags) {
    if (std::find(names.begin(), names.end(), name) == names.end()) kept.emplace_back(name, value);
  }
  return kept;
}

template <class Settings, std::size_t size>
std::vector<std::string> names_of(const std::array<TimeFlag<Settings>, size>& times) {
  std::vector<std::string> names;
  names.reserve(size);
  for (const auto& time : times) names.emplace_back(time.name);
  return names;
}

Result<CloudSettings> cloud_settings(const Scenario& scenario) {
  CloudSettings settings;
  config::Options options("holdfast-cloud", "");
  add_options(options, settings);
  for (const auto& [name, value] : scenario.cloud) {
    if (auto set = options.set(name, {value}); !set) return fail("cloud", set.error());
  }
  return settings;
}

Result<cluster::Flags> cloud_flags(const Scenario& scenario, int speed) {
  TRY(const CloudSettings settings, cloud_settings(scenario));
  std::vector<std::string> names = names_of(cloud_times);
  names.insert(names.end(), {"node-eviction-rate", "secondary-node-eviction-rate"});
  cluster::Flags flags = without(scenario.cloud, names);
  if (auto scaled = scale_times(cloud_times, settings, speed, "holdfast-cloud", flags); !scaled) {
    return fail(scaled.error());
  }
  flags.emplace_back("node-eviction-rate", std::to_string(settings.node_eviction_rate * speed));
  flags.emplace_back("secondary-node-eviction-rate",
                     std::to_string(settings.secondary_node_eviction_rate * speed));
  // There is one holdfast-cloud: when it is killed, it must not wait for its own old lease.
  if (!has(scenario.cloud, "leader-elect")) flags.emplace_back("leader-elect", "false");
  return flags;
}

Status add_edge_flags(const Scenario& scenario, int speed, FastScenario& fast) {
  TRY(const Configuration configuration, configuration_of(scenario));
  const EdgeOptions& edge = configuration.edge;
  fast.edge = without(scenario.edge, names_of(edge_times));
  if (auto scaled = scale_times(edge_times, edge, speed, "holdfast-edge", fast.edge); !scaled) {
    return scaled;
  }
  // holdfast-node renews the same lease as a kubelet would.
  fast.node = {{"status-interval", milliseconds(std::max<Duration>(Duration(10s) / speed, 200ms))},
               {"lease-duration", milliseconds(edge.lease_duration / speed)},
               {"lease-renew-interval", milliseconds(edge.lease_renew_interval / speed)},
               {"restart-backoff", milliseconds(Duration(10s) / speed)},
               {"restart-backoff-max", milliseconds(Duration(5min) / speed)},
               {"restart-backoff-reset", milliseconds(Duration(10min) / speed)}};
  return {};
}

void divide(Duration& duration, int speed) { duration /= speed; }

void scale_quality(LinkQuality& quality, int speed) {
  divide(quality.latency, speed);
  divide(quality.jitter, speed);
  quality.rate *= speed;
}

void scale_link(LinkProfile& link, int speed) {
  scale_quality(link.up, speed);
  scale_quality(link.down, speed);
  for (TracePoint& point : link.trace) {
    divide(point.at, speed);
    scale_quality(point.up, speed);
    scale_quality(point.down, speed);
  }
}

Status scale_workload(Workload& workload, int speed) {
  for (Toleration& toleration : workload.tolerations) {
    if (!toleration.seconds || *toleration.seconds <= 0) continue;
    const Duration value = std::chrono::seconds(*toleration.seconds);
    if (value / speed < 1s) {
      return tl::unexpected(too_fast("a toleration of " + workload.name, value, 1s, speed));
    }
    toleration.seconds = std::chrono::round<std::chrono::seconds>(value / speed).count();
  }
  divide(workload.start, speed);
  divide(workload.stop, speed);
  divide(workload.run_time, speed);
  // A pod without a grace period would be killed at once.
  if (workload.grace > Duration::zero())
    workload.grace = std::max<Duration>(workload.grace / speed, 1s);
  return {};
}

void scale_event(ScenarioEvent& event, int speed) {
  divide(event.at, speed);
  if (event.duration) divide(*event.duration, speed);
  if (auto* flap = std::get_if<Flap>(&event.action)) {
    divide(flap->up, speed);
    divide(flap->down, speed);
  }
  if (auto* degrade = std::get_if<Degrade>(&event.action)) scale_link(degrade->link, speed);
}

}  // namespace

Result<FastScenario> at_speed(const Scenario& scenario, int speed) {
  if (speed < 1 || speed > speed_max) {
    return fail(Errc::invalid, "--speed must be from 1 to " + std::to_string(speed_max));
  }
  FastScenario fast{.scenario = scenario, .cloud = {}, .edge = {}, .node = {}};
  TRY(fast.cloud, cloud_flags(scenario, speed));
  if (auto added = add_edge_flags(scenario, speed, fast); !added) return fail(added.error());
  fast.default_toleration = std::max<std::int64_t>(1, (300 + speed / 2) / speed);
  divide(fast.scenario.duration, speed);
  for (Site& site : fast.scenario.sites) scale_link(site.link, speed);
  for (Workload& workload : fast.scenario.workloads) {
    if (auto scaled = scale_workload(workload, speed); !scaled) return fail(scaled.error());
  }
  for (ScenarioEvent& event : fast.scenario.events) scale_event(event, speed);
  return fast;
}

}  // namespace holdfast::agent::lab::run
