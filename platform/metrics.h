// Metrics of a program in Prometheus' text format. Names end in their unit, counters in _total.
//
// A metric lives as long as its Metrics. Asking again for the same name and labels returns the same
// metric. Updating metrics is thread-safe; create them on one thread.

#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace holdfast {

using MetricLabels = std::map<std::string, std::string>;

class Counter {
 public:
  virtual ~Counter() = default;
  virtual void add(double amount = 1) = 0;  // `amount` must not be negative
};

class Gauge {
 public:
  virtual ~Gauge() = default;
  virtual void set(double value) = 0;
};

class Histogram {
 public:
  virtual ~Histogram() = default;
  virtual void observe(double value) = 0;
};

class Metrics {
 public:
  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  Counter& counter(const std::string& name, const std::string& help,
                   const MetricLabels& labels = {});
  Gauge& gauge(const std::string& name, const std::string& help, const MetricLabels& labels = {});
  // `bounds` are the buckets' upper bounds in ascending order. Only those of the first call for a
  // name and labels are used.
  Histogram& histogram(const std::string& name, const std::string& help,
                       const std::vector<double>& bounds, const MetricLabels& labels = {});

  // The body that GET /metrics returns, and its content type.
  [[nodiscard]] std::string text() const;
  static constexpr const char* content_type = "text/plain; version=0.0.4; charset=utf-8";

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace holdfast
