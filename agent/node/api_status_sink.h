// Sends the reports of pods to the API: PATCH of a pod's status, POST of an Event, DELETE of a pod
// that has stopped.
//
// Threading: the loop's thread only.

#pragma once

#include "agent/client/api_client.h"
#include "agent/node/status_sink.h"

namespace holdfast::agent::node {

inline constexpr std::string_view strategic_patch_type = "application/strategic-merge-patch+json";

class ApiStatusSink final : public StatusSink {
 public:
  // Both are borrowed and outlive it. `caller` may limit the rate.
  ApiStatusSink(ApiCaller& caller, const Clock& clock) : caller_(caller), clock_(clock) {}

  asio::awaitable<Status> report_status(sync::runtime::PodKey pod, std::string patch) override;
  asio::awaitable<Status> record_event(sync::Event event) override;
  asio::awaitable<Status> final_delete(sync::runtime::PodKey pod) override;

 private:
  asio::awaitable<Status> send(ApiRequest request);

  ApiCaller& caller_;
  const Clock& clock_;
};

}  // namespace holdfast::agent::node
