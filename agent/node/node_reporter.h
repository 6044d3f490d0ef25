// Registers the Node and keeps its status posted, online and offline alike.
//
// The status is compared with the API's every `interval`, and patched when it differs or was not
// posted for 5 minutes (the kubelet's nodeStatusReportFrequency).
//
// Threading: the loop's thread only.

#pragma once

#include <string>

#include "agent/client/api_client.h"
#include "agent/node/pressure.h"
#include "sync/api/types.h"

namespace holdfast::agent::node {

class NodeReporter {
 public:
  // `node` is what is registered; all references are borrowed and outlive it.
  NodeReporter(sync::Node node, Duration interval, ApiCaller& caller, const Pressure& pressure,
               const Clock& clock);

  // Runs until cancelled.
  asio::awaitable<void> run();

 private:
  asio::awaitable<Status> register_node();
  asio::awaitable<Status> post_once();
  asio::awaitable<Result<std::string>> call(ApiRequest request);

  sync::Node node_;
  Duration interval_;
  ApiCaller& caller_;
  const Pressure& pressure_;
  const Clock& clock_;
  std::string target_;  // "/api/v1/nodes/NAME"
  MonoTime posted_at_ = MonoTime::min();
};

}  // namespace holdfast::agent::node
