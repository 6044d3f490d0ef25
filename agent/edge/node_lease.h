// The node's own lease: renewed by the agent upstream, and answered locally to the node's callers.
//
// The agent alone renews it, so that the kubelet's lease calls never wait for the cloud, and only
// while the kubelet lives. renewTime only grows, whatever the wall clock does. Never written to
// disk and never journalled.

#pragma once

#include <string>

#include "agent/edge/uplink.h"
#include "platform/time.h"
#include "sync/api/types.h"
#include "sync/autonomy/kubelet_health.h"

namespace holdfast::agent {

class NodeLease {
 public:
  // `kubelet_grace` as in sync::KubeletHealth.
  NodeLease(std::string node_name, Duration lease_duration, Duration kubelet_grace,
            const Clock& clock);

  // Sends one renewal, which may take up to three requests of `limit` each (a lease that changed or
  // vanished). While the kubelet is silent it only looks at the lease: whether the cloud is there
  // is another question. Errors: as Uplink::call().
  asio::awaitable<Status> renew(Uplink& uplink, Duration limit);

  // Where it is upstream: its path.
  [[nodiscard]] std::string target() const;

  // The lease as local clients see it, renewed just now. `version` is its resourceVersion.
  [[nodiscard]] std::string renew_locally(std::string_view version);

  // The kubelet has written its lease or its node's status. Call it for callers that were proved to
  // act as the node only: a token that may write the lease does not make its bearer the kubelet.
  void heard_kubelet() { kubelet_.heard(clock_.mono()); }
  [[nodiscard]] const sync::KubeletHealth& kubelet() const { return kubelet_; }

  void set_node_uid(std::string uid) { node_uid_ = std::move(uid); }

 private:
  // Sets holder, duration and a renewTime later than any before.
  void refresh(sync::Lease& lease);
  // Takes over the answer to a write: the lease, or of one that we know only the resourceVersion.
  Status adopt(Result<std::string> answer);
  Status adopt_version(sync::Lease written, Result<std::string> answer);
  asio::awaitable<Status> look(Uplink& uplink, Duration limit);

  std::string node_name_;
  Duration lease_duration_;
  const Clock& clock_;
  sync::KubeletHealth kubelet_;
  std::string node_uid_;
  sync::Lease lease_;  // as the cloud last had it; without a resourceVersion: not known
  WallTime last_renewal_;
};

}  // namespace holdfast::agent
