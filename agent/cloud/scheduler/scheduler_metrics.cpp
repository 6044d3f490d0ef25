#include "agent/cloud/scheduler/scheduler_metrics.h"

#include <algorithm>
#include <utility>

namespace holdfast::agent {

namespace schedule = sync::schedule;

namespace {

std::vector<double> exponential(double start, int count) {
  std::vector<double> bounds;
  for (int i = 0; i < count; ++i, start *= 2) bounds.push_back(start);
  return bounds;
}

// As upstream: 16 and more attempts share one label.
std::string attempts_label(int attempts) {
  return attempts >= 16 ? "16+" : std::to_string(attempts);
}

}  // namespace

SchedulerMetrics::SchedulerMetrics(std::string profile)
    : profile_(std::move(profile)),
      algorithm_(metrics_.histogram("scheduler_scheduling_algorithm_duration_seconds",
                                    "Scheduling algorithm latency in seconds",
                                    exponential(0.001, 15))),
      attempts_(metrics_.histogram("scheduler_pod_scheduling_attempts",
                                   "Number of attempts to successfully schedule a pod.",
                                   exponential(1, 5))),
      preemptions_(metrics_.counter("scheduler_preemption_attempts_total",
                                    "Total preemption attempts in the cluster till now")),
      victims_(metrics_.histogram("scheduler_preemption_victims",
                                  "Number of selected preemption victims", exponential(1, 7))) {}

void SchedulerMetrics::attempted(std::string_view result, Duration took) {
  const MetricLabels labels{{"profile", profile_}, {"result", std::string(result)}};
  metrics_
      .counter("scheduler_schedule_attempts_total",
               "Number of attempts to schedule pods, by the result. 'unschedulable' means a pod "
               "could not be scheduled, while 'error' means an internal scheduler problem.",
               labels)
      .add();
  metrics_
      .histogram("scheduler_scheduling_attempt_duration_seconds",
                 "Scheduling attempt latency in seconds (scheduling algorithm + binding)",
                 exponential(0.001, 15), labels)
      .observe(seconds(took));
}

void SchedulerMetrics::scheduled(int attempts, Duration waited) {
  attempts_.observe(attempts);
  metrics_
      .histogram("scheduler_pod_scheduling_sli_duration_seconds",
                 "E2e latency for a pod being scheduled, from the time the pod enters the "
                 "scheduling queue and might involve multiple scheduling attempts.",
                 exponential(0.01, 20), {{"attempts", attempts_label(attempts)}})
      .observe(seconds(waited));
}

void SchedulerMetrics::prepared(bool well, Duration took) {
  const MetricLabels labels{{"result", well ? "success" : "error"}};
  metrics_
      .histogram("scheduler_preemption_goroutines_duration_seconds",
                 "Duration in seconds for running goroutines for the preemption.",
                 exponential(0.01, 20), labels)
      .observe(seconds(took));
  metrics_
      .counter("scheduler_preemption_goroutines_execution_total",
               "Number of preemption goroutines executed.", labels)
      .add();
}

void SchedulerMetrics::read_queue(const schedule::Queue& queue) {
  const std::size_t gated = queue.gated();
  const std::pair<const char*, std::size_t> pending[] = {
      {"active", queue.active()},
      {"backoff", queue.backing_off()},
      {"unschedulable", queue.unschedulable() - gated},
      {"gated", gated}};
  for (const auto& [name, count] : pending) {
    metrics_
        .gauge("scheduler_pending_pods",
               "Number of pending pods, by the queue type. 'active' means number of pods in "
               "activeQ; 'backoff' means number of pods in backoffQ; 'unschedulable' means number "
               "of pods in unschedulablePods that the scheduler attempted to schedule and failed; "
               "'gated' is the number of unschedulable pods that the scheduler never attempted to "
               "schedule because they are gated.",
               {{"queue", name}})
        .set(static_cast<double>(count));
  }
  for (const auto& [key, count] : queue.incoming()) {
    std::uint64_t& before = incoming_[key];
    metrics_
        .counter("scheduler_queue_incoming_pods_total",
                 "Number of pods added to scheduling queues by event and queue type.",
                 {{"event", std::string(key.second)}, {"queue", std::string(key.first)}})
        .add(static_cast<double>(count - std::exchange(before, count)));
  }
  for (auto& [plugin, count] : rejecting_) count = 0;
  for (const auto& [plugin, count] : queue.rejected_by()) rejecting_[plugin] = count;
  for (const auto& [plugin, count] : rejecting_) {
    metrics_
        .gauge("scheduler_unschedulable_pods",
               "The number of unschedulable pods broken down by plugin name. A pod will increment "
               "the gauge for all plugins that caused it to not schedule and so this metric have "
               "meaning only when broken down by plugin.",
               {{"plugin", plugin}, {"profile", profile_}})
        .set(static_cast<double>(count));
  }
}

std::string SchedulerMetrics::text(const schedule::ClusterState& state) {
  read_queue(state.queue());
  const std::pair<const char*, std::size_t> sizes[] = {{"nodes", state.cluster().nodes().size()},
                                                       {"pods", state.cluster().pods()},
                                                       {"assumed_pods", state.assumed()}};
  for (const auto& [type, count] : sizes) {
    metrics_
        .gauge("scheduler_cache_size",
               "Number of nodes, pods, and assumed (bound) pods in the scheduler cache.",
               {{"type", type}})
        .set(static_cast<double>(count));
  }
  return metrics_.text();
}

}  // namespace holdfast::agent
