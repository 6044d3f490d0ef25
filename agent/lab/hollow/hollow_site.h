// A site of hollow nodes: registered, healthy, and renewing their leases one after the other in
// one breath, so that they all fall silent together when their link is cut.
//
// Pods that are bound to them count as running, and those that are deleted end at once; both only
// while the link is open, as on a real node.
//
// Threading: the loop's thread only.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <map>
#include <string>
#include <vector>

#include "agent/client/api_client.h"
#include "sync/api/types.h"

namespace holdfast::agent {

struct HollowPlan {
  std::string zone;
  std::vector<std::string> nodes;
  Duration renew_interval = std::chrono::seconds(1);
  std::int32_t lease_seconds = 6;  // spec.leaseDurationSeconds; above renew_interval
};

class HollowSite {
 public:
  // `client`, which has the site's link, and `clock` outlive it.
  HollowSite(HollowPlan plan, ApiClient& client, const Clock& clock)
      : plan_(std::move(plan)), client_(client), clock_(clock) {}

  [[nodiscard]] const HollowPlan& plan() const { return plan_; }

  // Creates the nodes and their leases, and says that they are healthy. Errors: the API server's.
  asio::awaitable<Status> join();
  // Lives on, until it is cancelled. A round that fails is given up; the next one tries again.
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
  std::map<std::string, std::string> versions_;  // of the nodes' leases; none: to be read
};

}  // namespace holdfast::agent
