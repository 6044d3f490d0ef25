// Metrics about local clients' requests, under YurtHub's names.
//
// The label `client` is the component, not its whole user agent, so that new versions create no new
// series. Values that clients can choose freely are counted as "other" above a limit.
//
// Threading: the loop's thread only.

#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "platform/http/message.h"
#include "platform/metrics.h"
#include "sync/objects/request_info.h"

namespace holdfast::agent {

namespace asio = boost::asio;

struct HubMetricsLimits {
  // Distinct clients, and distinct sets of labels; more are counted as "other".
  std::size_t clients = 50;
  std::size_t series = 1000;
};

class HubMetrics {
 public:
  // `metrics` must outlive this and every InFlightRequest.
  explicit HubMetrics(Metrics& metrics, const HubMetricsLimits& limits = {});
  ~HubMetrics();

  // A request that is being answered, from its beginning until the last byte of its answer is sent.
  // It counts as in flight as long as the object exists.
  class InFlightRequest;
  [[nodiscard]] std::shared_ptr<InFlightRequest> begin(const std::string& component,
                                                       const sync::objects::RequestInfo& info);
  // Counts the bytes of the answer; those of a stream when they are sent. A streamed answer keeps
  // `flight` until its end.
  static void answer(std::shared_ptr<InFlightRequest> flight, http::Response& response);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace holdfast::agent
