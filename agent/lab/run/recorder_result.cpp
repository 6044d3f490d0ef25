// The result of a run, from what the recorder has written down.

#include <utility>

#include "agent/lab/run/recorder.h"

namespace holdfast::agent::lab::run {
namespace {

constexpr Duration eviction_interval = std::chrono::minutes(1);

Series evictions_of(const std::vector<PodResult>& pods) {
  Series series{"evictions", eviction_interval, {}};
  for (const PodResult& pod : pods) {
    if (!pod.evicted) continue;
    const auto index = static_cast<std::size_t>(*pod.evicted / eviction_interval);
    if (series.values.size() <= index) series.values.resize(index + 1);
    ++series.values[index];
  }
  return series;
}

}  // namespace

RunResult RunRecorder::finish(const std::map<std::string, std::uint64_t>& bytes_by_node) const {
  RunResult result;
  result.scenario = scenario_.name;
  result.about = scenario_.about;
  result.mode = "run";
  result.seed = scenario_.seed;
  result.duration = now();
  result.faults = faults_;
  for (const std::string& name : order_) {
    const NodeLog& log = nodes_.at(name);
    const auto bytes = bytes_by_node.find(name);
    result.nodes.push_back({.name = name,
                            .site = log.site,
                            .link = log.link.spans(now()),
                            .power = log.power.spans(now()),
                            .ready = log.ready.spans(now()),
                            .taints = log.taints.spans(now()),
                            .withheld = log.withheld.spans(now()),
                            .bytes = bytes == bytes_by_node.end() ? 0 : bytes->second});
  }
  for (const auto& [uid, log] : pods_) {
    if (log.result.deleted == Duration::zero()) continue;  // it was replaced before the beginning
    result.pods.push_back(log.result);
    result.pods.back().running = log.running.spans(now());
  }
  for (const auto& [title, log] : workloads_) {
    WorkloadResult made{.name = title, .site = log.workload->on, .wanted = wanted_of(log)};
    made.shortfall = log.shortfall.spans(now());
    for (const Span& span : made.shortfall) made.unavailable += span.end - span.begin;
    for (const PodResult& pod : result.pods) {
      if (pod.workload != title) continue;
      made.evicted += pod.evicted ? 1 : 0;
      made.restarted += pod.restarts;
    }
    result.workloads.push_back(std::move(made));
  }
  result.series.push_back(evictions_of(result.pods));
  return result;
}

}  // namespace holdfast::agent::lab::run
