// Renews the node's Lease in kube-node-lease, as a kubelet does. The edge agent renews the Lease in
// the cloud; it does so only while these renewals tell it that the node agent is alive.
//
// Threading: the loop's thread only.

#pragma once

#include <optional>
#include <string>

#include "agent/client/api_client.h"
#include "platform/time.h"
#include "sync/model/types.h"

namespace holdfast::agent::node {

struct LeaseSettings {
  std::string node_name;
  Duration duration = std::chrono::seconds(40);
  Duration interval = std::chrono::seconds(10);  // a kubelet uses a quarter of the duration
};

class LeaseRenewer {
 public:
  // `caller` and `clock` are borrowed and outlive it.
  LeaseRenewer(LeaseSettings settings, ApiCaller& caller, const Clock& clock);

  // Runs until cancelled.
  asio::awaitable<void> run();

 private:
  // Updates the lease, or creates it if there is none.
  asio::awaitable<Status> renew();
  // Reads the lease into lease_; nothing if there is none.
  asio::awaitable<Status> read();

  LeaseSettings settings_;
  ApiCaller& caller_;
  const Clock& clock_;
  std::string target_;                // its path
  std::optional<sync::Lease> lease_;  // as last read or written
};

}  // namespace holdfast::agent::node
