// /metrics of the API server, with kube-apiserver's names: requests, durations, stored objects,
// and the process. Threading: the loop's thread only.

#pragma once

#include <map>
#include <string>
#include <vector>

#include "agent/lab/apiserver/audit.h"
#include "agent/lab/apiserver/registry.h"
#include "platform/metrics.h"
#include "platform/time.h"

namespace holdfast::agent::lab {

struct MetricsLimits {
  // Different labels of requests. Custom resources can have any name; once there are too many,
  // their requests are counted without group, version and resource.
  std::size_t series = 4000;
};

// What a request was about, as labels.
struct MeasuredRequest {
  sync::objects::RequestInfo info = {};
  bool is_known = false;  // the resource exists
  bool is_apply = false;
  int status = 0;
  Duration took = {};
};

class RequestMetrics {
 public:
  explicit RequestMetrics(WallTime started) : started_(started) {}

  void record(const MeasuredRequest& request);
  // The text for GET /metrics, during which one request is in flight.
  [[nodiscard]] std::string text(const Registry& registry, std::size_t watches);

 private:
  [[nodiscard]] MetricLabels labels_of(const MeasuredRequest& request);
  void count_objects(const Registry& registry);
  void measure_process();

  Metrics metrics_;
  WallTime started_;
  double cpu_seconds_ = 0;  // as last reported
  std::map<std::string, bool> series_;
  std::vector<std::string> counted_;  // resources with a gauge
};

}  // namespace holdfast::agent::lab
