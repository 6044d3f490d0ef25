// Numbers about a program, in Prometheus' text format. Names end in their unit; counters in _total.
//
// A metric lives as long as its Metrics. Asking twice for the same name and labels gives the same
// metric. Any thread.

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
  virtual void add(double amount = 1) = 0;  // amount >= 0
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
  // `bounds` are the buckets' upper ends, growing; they count for the first call of a name.
  Histogram& histogram(const std::string& name, const std::string& help,
                       const std::vector<double>& bounds, const MetricLabels& labels = {});

  // What GET /metrics answers, and its content type.
  [[nodiscard]] std::string text() const;
  static constexpr const char* content_type = "text/plain; version=0.0.4; charset=utf-8";

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace holdfast
