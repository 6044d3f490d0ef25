#include "agent/edge/admin/hub_metrics.h"

#include <optional>

#include "sync/wire/utf8.h"

namespace holdfast::agent {
namespace {

constexpr const char* all_others = "other";
constexpr std::size_t client_name_bytes = 64;

}  // namespace

struct HubMetrics::State {
  State(Metrics& registry, const HubMetricsLimits& limited) : metrics(registry), limits(limited) {}

  Metrics& metrics;
  HubMetricsLimits limits;
  std::set<std::string> clients;
  std::map<MetricLabels, int> in_flight;
  int total = 0;

  MetricLabels labels_of(const std::string& component, const sync::objects::RequestInfo& info) {
    MetricLabels labels{{"verb", info.verb},
                        {"resource", info.resource},
                        {"subresources", info.subresource},
                        {"client", component}};
    const bool named = component.size() <= client_name_bytes && sync::wire::is_utf8(component);
    const bool room = clients.size() < limits.clients || clients.contains(component);
    if (named && room) {
      clients.insert(component);
    } else {
      labels["client"] = all_others;
    }
    // Above the limit of series, everything is counted as "other".
    if (in_flight.contains(labels) || in_flight.size() < limits.series) return labels;
    for (auto& [name, value] : labels) value = all_others;
    return labels;
  }

  void show(const MetricLabels& labels) {
    metrics
        .gauge("node_yurthub_in_flight_requests_collector",
               "Requests that are being answered, by client and resource.", labels)
        .set(in_flight.at(labels));
    metrics.gauge("node_yurthub_in_flight_requests_total", "All requests that are being answered.")
        .set(total);
  }
};

class HubMetrics::InFlightRequest {
 public:
  InFlightRequest(std::shared_ptr<State> state, MetricLabels labels)
      : state_(std::move(state)), labels_(std::move(labels)) {
    ++state_->in_flight[labels_];
    ++state_->total;
    state_->show(labels_);
  }
  ~InFlightRequest() {
    --state_->in_flight[labels_];
    --state_->total;
    state_->show(labels_);
  }
  InFlightRequest(const InFlightRequest&) = delete;
  InFlightRequest& operator=(const InFlightRequest&) = delete;

  void add(std::size_t bytes) {
    if (!traffic_) {
      traffic_ = state_->metrics.counter("node_yurthub_proxy_traffic_collector",
                                         "Bytes of answers to local clients.", labels_);
    }
    traffic_->add(static_cast<double>(bytes));
  }

 private:
  std::shared_ptr<State> state_;
  MetricLabels labels_;
  std::optional<Counter> traffic_;
};

namespace {

// Counts the bytes of a stream, and keeps its InFlightRequest until the stream ends.
template <class InFlightRequest>
class CountedStream final : public http::BodyStream {
 public:
  CountedStream(std::shared_ptr<http::BodyStream> inner, std::shared_ptr<InFlightRequest> flight)
      : inner_(std::move(inner)), flight_(std::move(flight)) {}

  asio::awaitable<Result<std::string>> next() override {
    auto piece = co_await inner_->next();
    if (piece) flight_->add(piece->size());
    co_return piece;
  }
  void cancel() override { inner_->cancel(); }

 private:
  std::shared_ptr<http::BodyStream> inner_;
  std::shared_ptr<InFlightRequest> flight_;
};

}  // namespace

HubMetrics::HubMetrics(Metrics& metrics, const HubMetricsLimits& limits)
    : state_(std::make_shared<State>(metrics, limits)) {}

HubMetrics::~HubMetrics() = default;

std::shared_ptr<HubMetrics::InFlightRequest> HubMetrics::begin(
    const std::string& component, const sync::objects::RequestInfo& info) {
  return std::make_shared<InFlightRequest>(state_, state_->labels_of(component, info));
}

void HubMetrics::answer(std::shared_ptr<InFlightRequest> flight, http::Response& response) {
  if (response.body_size() > 0) flight->add(response.body_size());
  if (!response.stream) return;
  response.stream = std::make_shared<CountedStream<InFlightRequest>>(std::move(response.stream),
                                                                     std::move(flight));
}

}  // namespace holdfast::agent
