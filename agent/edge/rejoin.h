// Keeps the link: probes it with the node's lease, and brings the agent back after an outage.
//
// A rejoin goes by stages: the lease; the node (is it still the same?); the outbox (see replay.h);
// then new lists, by turns; then the same for what was accepted meanwhile, until nothing is. Only
// then is the link connected again. A failure of the link on the way puts it offline, and the next
// probe begins anew. A write that is refused for now waits by itself, also after the rejoin. A
// scope that cannot be listed is marked as unhealthy and left behind (see scope_health.h): the
// link, the outbox and other scopes do not wait for it.
//
// Threading: the loop's thread only.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <optional>

#include "agent/edge/feeders.h"
#include "agent/edge/ledger.h"
#include "agent/edge/node_lease.h"
#include "agent/edge/options.h"
#include "agent/edge/replay.h"
#include "agent/edge/uplink.h"
#include "platform/loop/tasks.h"

namespace holdfast::agent {

struct RejoinLimits {
  Duration request = std::chrono::seconds(10);    // for reading the node
  Duration turn = std::chrono::seconds(5);        // for the lists of one turn
  Duration all_turns = std::chrono::seconds(15);  // for the lists of all turns together
  Duration turn_min = std::chrono::seconds(1);    // for one turn, also once `all_turns` is over
  // Changes of scopes' health that are journalled in each interval: each costs a durable write.
  int records = 20;
  Duration records_interval = std::chrono::minutes(1);
};

class Rejoin {
 public:
  Rejoin(const EdgeOptions& options, Scopes& scopes, Uplink& uplink, Feeders& feeders,
         Ledger& ledger, NodeLease& lease, const Clock& clock, Random& random);

  // Runs until cancelled.
  asio::awaitable<void> keep_link();
  // Probes servers that are out of rotation, beside that.
  asio::awaitable<void> keep_servers();
  // While connected: sends the writes that were refused for now, when they are due. Runs until
  // cancelled.
  asio::awaitable<void> keep_replaying();
  // After both have ended: waits for what they may have left under way.
  asio::awaitable<void> join();

 private:
  asio::awaitable<void> renew_lease();
  asio::awaitable<void> rejoin();
  asio::awaitable<Status> stages();
  asio::awaitable<Status> look_at_node();
  asio::awaitable<Status> list_by_turns();
  asio::awaitable<Status> catch_up();
  asio::awaitable<void> wait_for(std::vector<ScopePtr> scopes, MonoTime since, Duration limit);
  [[nodiscard]] bool held_back_since(MonoTime time) const;
  void record_health(const LocalScope& scope);

  const EdgeOptions& options_;
  Scopes& scopes_;
  Uplink& uplink_;
  Feeders& feeders_;
  Ledger& ledger_;
  NodeLease& lease_;
  const Clock& clock_;
  Random& random_;
  Replay replay_;
  std::shared_ptr<loop::Tasks> meanwhile_;  // beside the rejoin under way
  bool missed_lists_ = false;               // by the rejoin under way: not answered in time
  std::optional<MonoTime> records_since_;   // the interval in which `records_` are counted
  int records_ = 0;
};

}  // namespace holdfast::agent
