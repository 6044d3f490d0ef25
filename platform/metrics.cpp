#include "platform/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <list>

namespace holdfast {
namespace {

class WrappedCounter final : public Counter {
 public:
  explicit WrappedCounter(prometheus::Counter& inner) : inner_(inner) {}
  void add(double amount) override { inner_.Increment(amount); }
  [[nodiscard]] const void* identity() const { return &inner_; }

 private:
  prometheus::Counter& inner_;
};

class WrappedGauge final : public Gauge {
 public:
  explicit WrappedGauge(prometheus::Gauge& inner) : inner_(inner) {}
  void set(double value) override { inner_.Set(value); }
  [[nodiscard]] const void* identity() const { return &inner_; }

 private:
  prometheus::Gauge& inner_;
};

class WrappedHistogram final : public Histogram {
 public:
  explicit WrappedHistogram(prometheus::Histogram& inner) : inner_(inner) {}
  void observe(double value) override { inner_.Observe(value); }
  [[nodiscard]] const void* identity() const { return &inner_; }

 private:
  prometheus::Histogram& inner_;
};

// The wrapper of `inner`, created on the first call. A list, so that references stay valid.
template <class Wrapped, class Inner>
Wrapped& wrap(std::list<Wrapped>& known, Inner& inner) {
  for (Wrapped& wrapped : known) {
    if (wrapped.identity() == &inner) return wrapped;
  }
  return known.emplace_back(inner);
}

}  // namespace

struct Metrics::Impl {
  // Merge: registering the same name again returns the same family.
  prometheus::Registry registry{prometheus::Registry::InsertBehavior::Merge};
  std::list<WrappedCounter> counters;
  std::list<WrappedGauge> gauges;
  std::list<WrappedHistogram> histograms;
};

Metrics::Metrics() : impl_(std::make_unique<Impl>()) {}
Metrics::~Metrics() = default;

Counter& Metrics::counter(const std::string& name, const std::string& help,
                          const MetricLabels& labels) {
  auto& family = prometheus::BuildCounter().Name(name).Help(help).Register(impl_->registry);
  return wrap(impl_->counters, family.Add(labels));
}

Gauge& Metrics::gauge(const std::string& name, const std::string& help,
                      const MetricLabels& labels) {
  auto& family = prometheus::BuildGauge().Name(name).Help(help).Register(impl_->registry);
  return wrap(impl_->gauges, family.Add(labels));
}

Histogram& Metrics::histogram(const std::string& name, const std::string& help,
                              const std::vector<double>& bounds, const MetricLabels& labels) {
  auto& family = prometheus::BuildHistogram().Name(name).Help(help).Register(impl_->registry);
  return wrap(impl_->histograms, family.Add(labels, bounds));
}

std::string Metrics::text() const {
  return prometheus::TextSerializer().Serialize(impl_->registry.Collect());
}

}  // namespace holdfast
