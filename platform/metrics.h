// Metrics of a program in Prometheus' text format. Names end in their unit, counters in _total.
//
// A metric lives as long as its Metrics. Asking again for the same name and labels refers to the
// same metric. Updating metrics is thread-safe; create them on one thread.

#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace prometheus {
class Counter;
class Gauge;
class Histogram;
class Registry;
}  // namespace prometheus

namespace holdfast {

using MetricLabels = std::map<std::string, std::string>;

class Metrics;

// Counter, Gauge and Histogram are small values. A copy refers to the same metric.

class Counter {
 public:
  void add(double amount = 1);  // `amount` must not be negative

 private:
  friend class Metrics;
  explicit Counter(prometheus::Counter& metric) : metric_(&metric) {}
  prometheus::Counter* metric_;
};

class Gauge {
 public:
  void set(double value);

 private:
  friend class Metrics;
  explicit Gauge(prometheus::Gauge& metric) : metric_(&metric) {}
  prometheus::Gauge* metric_;
};

class Histogram {
 public:
  void observe(double value);

 private:
  friend class Metrics;
  explicit Histogram(prometheus::Histogram& metric) : metric_(&metric) {}
  prometheus::Histogram* metric_;
};

class Metrics {
 public:
  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  Counter counter(const std::string& name, const std::string& help,
                  const MetricLabels& labels = {});
  Gauge gauge(const std::string& name, const std::string& help, const MetricLabels& labels = {});
  // `bounds` are the buckets' upper bounds in ascending order. Only those of the first call for a
  // name and labels are used.
  Histogram histogram(const std::string& name, const std::string& help,
                      const std::vector<double>& bounds, const MetricLabels& labels = {});

  // The body that GET /metrics returns, and its content type.
  [[nodiscard]] std::string text() const;
  static constexpr const char* content_type = "text/plain; version=0.0.4; charset=utf-8";

 private:
  std::unique_ptr<prometheus::Registry> registry_;
};

}  // namespace holdfast
