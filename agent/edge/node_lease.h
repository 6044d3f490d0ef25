// The node's own lease: renewed by the agent upstream, and answered locally to whoever asks.
//
// The agent alone renews it, so that the kubelet's lease calls never wait for the cloud. renewTime
// only grows, whatever the wall clock does. Never written to disk and never journalled.

#pragma once

#include <string>

#include "agent/edge/uplink.h"
#include "platform/time.h"
#include "sync/api/types.h"

namespace holdfast::agent {

class NodeLease {
 public:
  NodeLease(std::string node_name, Duration lease_duration, const Clock& clock);

  // Sends one renewal, which may take up to three requests of `limit` each (a lease that changed or
  // vanished). Errors: as Uplink::call().
  asio::awaitable<Status> renew(Uplink& uplink, Duration limit);

  // The lease as local clients see it, renewed just now. `version` is its resourceVersion.
  [[nodiscard]] std::string renew_locally(std::string_view version);

  void set_node_uid(std::string uid) { node_uid_ = std::move(uid); }

 private:
  // Sets holder, duration and a renewTime later than any before.
  void refresh(sync::Lease& lease);
  Status adopt(Result<std::string> answer);

  std::string node_name_;
  Duration lease_duration_;
  const Clock& clock_;
  std::string node_uid_;
  sync::Lease lease_;  // as the cloud last had it; without a resourceVersion: not known
  WallTime last_renewal_;
};

}  // namespace holdfast::agent
