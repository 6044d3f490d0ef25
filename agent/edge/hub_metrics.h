// Numbers about local clients' requests, by YurtHub's names.
//
// A client is a component, not its whole user agent, so that versions make no new series; what
// clients may choose freely is counted under "other" past a limit.
//
// Threading: the loop's thread only.

#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "platform/http/message.h"
#include "platform/metrics.h"
#include "sync/api/request_info.h"

namespace holdfast::agent {

namespace asio = boost::asio;

struct HubMetricsLimits {
  std::size_t clients = 50;
  std::size_t series = 1000;
};

class HubMetrics {
 public:
  // `metrics` outlives this and every Flight.
  explicit HubMetrics(Metrics& metrics, const HubMetricsLimits& limits = {});
  ~HubMetrics();

  // One request from its beginning until the last byte of its answer; in flight while it lives.
  class Flight;
  [[nodiscard]] std::shared_ptr<Flight> begin(const std::string& component,
                                              const sync::RequestInfo& info);
  // Counts the answer; a stream's pieces as they go, and its end.
  static void answer(std::shared_ptr<Flight> flight, http::Response& response);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace holdfast::agent
