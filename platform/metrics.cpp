#include "platform/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

namespace holdfast {

void Counter::add(double amount) { metric_->Increment(amount); }

void Gauge::set(double value) { metric_->Set(value); }

void Histogram::observe(double value) { metric_->Observe(value); }

// Merge: registering the same name again returns the same family.
Metrics::Metrics()
    : registry_(
          std::make_unique<prometheus::Registry>(prometheus::Registry::InsertBehavior::Merge)) {}

Metrics::~Metrics() = default;

Counter Metrics::counter(const std::string& name, const std::string& help,
                         const MetricLabels& labels) {
  auto& family = prometheus::BuildCounter().Name(name).Help(help).Register(*registry_);
  return Counter(family.Add(labels));
}

Gauge Metrics::gauge(const std::string& name, const std::string& help, const MetricLabels& labels) {
  auto& family = prometheus::BuildGauge().Name(name).Help(help).Register(*registry_);
  return Gauge(family.Add(labels));
}

Histogram Metrics::histogram(const std::string& name, const std::string& help,
                             const std::vector<double>& bounds, const MetricLabels& labels) {
  auto& family = prometheus::BuildHistogram().Name(name).Help(help).Register(*registry_);
  return Histogram(family.Add(labels, bounds));
}

std::string Metrics::text() const {
  return prometheus::TextSerializer().Serialize(registry_->Collect());
}

}  // namespace holdfast
