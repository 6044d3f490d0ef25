// Keeps the link: probes it with the node's lease, and brings the agent back after an outage.
//
// A rejoin goes by stages: the lease; the node (is it still the same?); the outbox, oldest object
// first, each write once; then new lists, by turns; then the same for what was accepted meanwhile,
// until nothing is. Only then is the link connected again. What
// fails on the way puts the link offline, and the next probe begins anew.
//
// Threading: the loop's thread only.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>

#include "agent/edge/feeders.h"
#include "agent/edge/ledger.h"
#include "agent/edge/node_lease.h"
#include "agent/edge/options.h"
#include "agent/edge/uplink.h"
#include "platform/loop/tasks.h"

namespace holdfast::agent {

class Rejoin {
 public:
  Rejoin(const EdgeOptions& options, Scopes& scopes, Uplink& uplink, Feeders& feeders,
         Ledger& ledger, NodeLease& lease, const Clock& clock, Random& random);

  // Runs until cancelled.
  asio::awaitable<void> keep_link();
  // Probes servers that are out of rotation, beside that.
  asio::awaitable<void> keep_servers();
  // After keep_link() has ended: waits for what it may have left under way.
  asio::awaitable<void> join();

 private:
  asio::awaitable<void> renew_lease();
  asio::awaitable<void> rejoin();
  asio::awaitable<Status> stages();
  asio::awaitable<Status> look_at_node();
  asio::awaitable<Status> drain();
  asio::awaitable<Status> send(store::Entry entry);
  asio::awaitable<Status> list_by_turns();
  asio::awaitable<Status> catch_up();
  [[nodiscard]] bool held_back_since(MonoTime time) const;

  const EdgeOptions& options_;
  Scopes& scopes_;
  Uplink& uplink_;
  Feeders& feeders_;
  Ledger& ledger_;
  NodeLease& lease_;
  const Clock& clock_;
  Random& random_;
  std::shared_ptr<loop::Tasks> meanwhile_;  // beside the rejoin under way
};

}  // namespace holdfast::agent
