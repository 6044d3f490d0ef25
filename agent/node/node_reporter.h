// Registers the Node and keeps its status up to date, online and offline alike.
// Every `interval` the status is compared with the one in the API. It is patched if they differ, or
// if 5 minutes have passed since the last patch (the kubelet's nodeStatusReportFrequency).
//
// Threading: the loop's thread only.

#pragma once

#include <string>

#include "agent/client/api_client.h"
#include "agent/node/pressure.h"
#include "sync/model/types.h"

namespace holdfast::agent::node {

class NodeReporter {
 public:
  // `node` is the Node to register. All references are borrowed and outlive it.
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
