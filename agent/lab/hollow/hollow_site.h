// A site of hollow nodes that register, report healthy and renew their leases. All leases are
// renewed one right after the other, so that all nodes fall silent together when the link is cut.
// Pods bound to these nodes are reported as running, and deleted pods are removed at once. As on a
// real node, both happen only while the link works.
//
// Threading: the loop's thread only.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <map>
#include <string>
#include <vector>

#include "agent/client/api_client.h"
#include "sync/model/types.h"

namespace holdfast::agent {

struct HollowPlan {
  std::string zone;
  std::vector<std::string> nodes;
  Duration renew_interval = std::chrono::seconds(1);
  std::int32_t lease_seconds = 6;  // spec.leaseDurationSeconds; above renew_interval
};

class HollowSite {
 public:
  // `client` and `clock` are borrowed and outlive it. `client` sends through the site's link.
  HollowSite(HollowPlan plan, ApiClient& client, const Clock& clock)
      : plan_(std::move(plan)), client_(client), clock_(clock) {}

  [[nodiscard]] const HollowPlan& plan() const { return plan_; }

  // Creates the nodes and their leases and reports the nodes as healthy. Errors: those of the API
  // server.
  asio::awaitable<Status> join();
  // Renews leases, posts statuses and serves pods every `renew_interval`, until cancelled. A round
  // that fails is aborted; the next one tries again.
  asio::awaitable<void> run();

 private:
  asio::awaitable<Status> round();
  asio::awaitable<Status> renew(std::string node);
  asio::awaitable<Status> serve_pods();
  asio::awaitable<Status> serve_pod(sync::Pod pod);
  asio::awaitable<Status> write(ApiRequest request);

  HollowPlan plan_;
  ApiClient& client_;
  const Clock& clock_;
  std::map<std::string, std::string>
      versions_;  // resourceVersion of each node's lease; "": unknown
};

}  // namespace holdfast::agent
