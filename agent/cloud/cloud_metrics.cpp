#include "agent/cloud/cloud_metrics.h"

#include <algorithm>
#include <utility>

#include "platform/version.h"

namespace holdfast::agent {

namespace lifecycle = sync::lifecycle;

namespace {

// Upstream's ExponentialBuckets(start, factor 4, 8).
std::vector<double> exponential(double start) {
  std::vector<double> bounds;
  for (int index = 0; index < 8; ++index, start *= 4) bounds.push_back(start);
  return bounds;
}

const std::vector<double> deletion_bounds = {0.005, 0.025, 0.1, 0.5, 1,   2.5,
                                             10,    30,    60,  120, 180, 240};

// Bounds the memory for evictions that never end.
constexpr std::size_t evicting_max = 100'000;

double seconds_between(MonoTime from, MonoTime to) {
  return std::chrono::duration<double>(to - from).count();
}

const lifecycle::PodRef* evicted_pod(const lifecycle::Effect& effect) {
  if (const auto* mark = std::get_if<lifecycle::MarkPodDisrupted>(&effect)) {
    return mark->withdrawn ? nullptr : &mark->pod;
  }
  if (const auto* deletion = std::get_if<lifecycle::DeletePod>(&effect)) return &deletion->pod;
  return nullptr;
}

}  // namespace

CloudMetrics::CloudMetrics(std::string host, const lifecycle::Options& options,
                           const lifecycle::Controller& controller, const Clock& clock)
    : host_(std::move(host)),
      by_taints_(options.taint_based_evictions),
      controller_(controller),
      clock_(clock),
      update_one_(metrics_.histogram(
          "node_collector_update_node_health_duration_seconds",
          "Duration in seconds for NodeController to update the health of a single node.",
          exponential(0.001))),
      update_all_(metrics_.histogram(
          "node_collector_update_all_nodes_health_duration_seconds",
          "Duration in seconds for NodeController to update the health of all nodes.",
          exponential(0.01))),
      deletions_(metrics_.counter("taint_eviction_controller_pod_deletions_total",
                                  "Total number of Pods deleted by TaintEvictionController since "
                                  "its start.")),
      deletion_(metrics_.histogram("taint_eviction_controller_pod_deletion_duration_seconds",
                                   "Latency, in seconds, between the time when a taint effect has "
                                   "been activated for the Pod "
                                   "and its deletion via TaintEvictionController.",
                                   deletion_bounds)) {
  metrics_
      .gauge("holdfast_build_info", "1; the version is a label.",
             {{"version", std::string(version)}})
      .set(1);
}

void CloudMetrics::planned(const lifecycle::Effect& effect) {
  if (const auto* update = std::get_if<lifecycle::UpdateNodeStatus>(&effect)) {
    updating_.try_emplace(update->node, clock_.mono());
    pass_left_.insert(update->node);
  } else if (const auto* pod = evicted_pod(effect); pod != nullptr && by_taints_) {
    if (evicting_.size() >= evicting_max) evicting_.clear();
    evicting_.try_emplace(pod->uid, clock_.mono());
  }
}

void CloudMetrics::settled(const lifecycle::Effect& effect, const lifecycle::Outcome& outcome) {
  const MonoTime now = clock_.mono();
  if (const auto* update = std::get_if<lifecycle::UpdateNodeStatus>(&effect)) {
    if (const auto found = updating_.extract(update->node)) {
      update_one_.observe(seconds_between(found.mapped(), now));
    }
    if (pass_left_.erase(update->node) > 0 && pass_left_.empty()) end_pass(now);
    return;
  }
  const lifecycle::PodRef* pod = nullptr;
  if (const auto* deletion = std::get_if<lifecycle::DeletePod>(&effect)) pod = &deletion->pod;
  if (const auto* eviction = std::get_if<lifecycle::EvictPod>(&effect)) pod = &eviction->pod;
  if (pod == nullptr || !by_taints_) return;
  if (outcome.ok()) {
    const auto since = evicting_.extract(pod->uid);
    deletions_.add();
    deletion_.observe(since ? seconds_between(since.mapped(), now) : 0);
  } else if (outcome.error == Errc::not_found || outcome.error == Errc::conflict) {
    evicting_.erase(pod->uid);
  }
}

void CloudMetrics::stepped(const sync::control::Now& began) {
  if (std::exchange(passes_, controller_.passes()) == controller_.passes()) return;
  // A write of an earlier pass that is still under way counts with the new one.
  zone_report_.compare(controller_.fleet().zones(), metrics_);
  pass_began_ = began.mono;
  if (pass_left_.empty()) end_pass(clock_.mono());
}

void CloudMetrics::end_pass(MonoTime now) {
  update_all_.observe(seconds_between(pass_began_, now));
}

void CloudMetrics::requested(http::Method method, int status) {
  metrics_
      .counter("rest_client_requests_total",
               "Number of HTTP requests, partitioned by status code, method, and host.",
               {{"code", status == 0 ? "<error>" : std::to_string(status)},
                {"host", host_},
                {"method", std::string(http::to_string(method))}})
      .add();
}

void CloudMetrics::skipped(std::string_view kind) {
  metrics_
      .counter("holdfast_malformed_objects_total", "Received objects that could not be decoded.",
               {{"kind", std::string(kind)}})
      .add();
}

void CloudMetrics::read_zone(const std::string& key, double size, double unhealthy) {
  const MetricLabels zone{{"zone", key}};
  // As upstream: a zone without nodes is healthy.
  const double health = size > 0 ? 100 * (size - unhealthy) / size : 100;
  metrics_
      .gauge("node_collector_zone_health", "Gauge measuring percentage of healthy nodes per zone.",
             zone)
      .set(health);
  metrics_
      .gauge("node_collector_zone_size", "Gauge measuring number of registered Nodes per zones.",
             zone)
      .set(size);
  metrics_
      .gauge("node_collector_unhealthy_nodes_in_zone",
             "Gauge measuring number of not Ready Nodes per zones.", zone)
      .set(unhealthy);
}

void CloudMetrics::read_zones(const lifecycle::Zones& zones) {
  for (const auto& [key, counted] : evictions_) {
    if (!zones.all().contains(key)) read_zone(key, 0, 0);
  }
  for (const auto& [key, zone] : zones.all()) {
    const MetricLabels labels{{"zone", key}};
    read_zone(key, static_cast<double>(zone.count.all()), static_cast<double>(zone.count.unready));
    const auto now = static_cast<double>(zone.evictions);
    double& before = evictions_[key];
    // A zone that was removed and came back counts from zero again.
    const double more = now >= before ? now - before : now;
    before = now;
    metrics_
        .counter("node_collector_evictions_number",
                 "Number of Node evictions that happened since current instance of NodeController "
                 "started, This metric is replaced by node_collector_evictions_total.",
                 labels)
        .add(more);
    metrics_
        .counter("node_collector_evictions_total",
                 "Number of Node evictions that happened since current instance of NodeController "
                 "started.",
                 labels)
        .add(more);
    metrics_
        .gauge("holdfast_cloud_zone_queue", "Number of nodes waiting for their eviction.", labels)
        .set(static_cast<double>(zone.queue.waiting().size()));
  }
}

std::string CloudMetrics::text(const LifecycleRunner::Queue& queue, const States& states) {
  read_zones(controller_.fleet().zones());
  const auto gauge = [this](const char* name, const char* help, auto value) {
    metrics_.gauge(name, help).set(static_cast<double>(value));
  };
  for (const auto& [name, leads] : states.elections) {
    metrics_
        .gauge(
            "leader_election_master_status",
            "Gauge of if the reporting system is master of the relevant lease, 0 indicates "
            "backup, 1 indicates master. 'name' is the string used to identify the lease. Please "
            "make sure to group by name.",
            {{"name", name}})
        .set(leads ? 1 : 0);
  }
  gauge("node_lifecycle_controller_rate_limiter_use",
        "A metric measuring the saturation of the rate limiter for node_lifecycle_controller",
        states.saturation);
  gauge("holdfast_cloud_started",
        "1 once all objects were received and this replica runs its controllers.", states.started);
  gauge("holdfast_cloud_api_server_unreachable",
        "1 while the API server does not answer; node health is not evaluated and evictions are "
        "paused meanwhile.",
        states.contact_lost);
  gauge("holdfast_cloud_nodes", "Nodes known.", controller_.fleet().size());
  gauge("holdfast_cloud_pods", "Pods known.", controller_.pods().size());
  gauge("holdfast_cloud_writes_waiting", "Writes that wait for their turn.", queue.waiting());
  gauge("holdfast_cloud_writes_under_way", "Writes that were sent and not answered yet.",
        queue.under_way());
  const std::size_t dropped = queue.reports_dropped();
  metrics_
      .counter("holdfast_cloud_events_dropped_total",
               "Events dropped because too many were waiting.")
      .add(static_cast<double>(dropped - std::exchange(events_dropped_, dropped)));
  return metrics_.text();
}

}  // namespace holdfast::agent
