// Maintains the link: probes it by renewing the node's lease, and reconnects the agent after an
// outage (a rejoin).
//
// A rejoin begins when a probe is answered, and renews the lease while it runs. Its stages: check
// that the node is still the same; send the outbox (see replay.h); bring all scopes up to date, by
// turns; send what was accepted meanwhile, until nothing is left. A scope that shows what was
// accepted here is brought up to date by the answers to these writes, and its watch goes on; if
// they do not tell enough, it is listed. Events appear in no scope: those that are accepted
// meanwhile are sent once the link is connected. Then the link is connected. A failure of the link
// ends the rejoin: the link is offline, and the next probe starts over. A server that is overloaded
// (429, 503) is no failure: the rejoin waits up to a minute until that has passed. A write that is
// refused for now waits by itself, also after the rejoin. A scope that can be neither listed nor
// watched becomes unhealthy (see scope_health.h); the link, the outbox and other scopes do not wait
// for it.
//
// Threading: the loop's thread only.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <optional>

#include "agent/edge/cache/scope_reflectors.h"
#include "agent/edge/forward/node_lease.h"
#include "agent/edge/forward/uplink.h"
#include "agent/edge/link/replay.h"
#include "agent/edge/offline/offline_store.h"
#include "agent/edge/offline/registration.h"
#include "platform/loop/tasks.h"
#include "sync/pacing/backoff.h"

namespace holdfast::agent {

struct RejoinLimits {
  Duration request = std::chrono::seconds(10);  // to read the node
  // How long a server is asked for the node again that answers 429 or 503.
  Duration overload = std::chrono::minutes(1);
  // While connected, how long until a Node that could not be read or registered is tried again:
  // doubled each time.
  Duration node_pause_min = std::chrono::seconds(10);
  Duration node_pause_max = std::chrono::minutes(5);
  // To refresh the scopes of one turn; at least twice as long as a heartbeat may take, because a
  // watch that is refused and then a list need several round trips.
  Duration turn = std::chrono::seconds(5);
  int all_turns = 3;                            // in which the scopes of all turns are refreshed
  Duration turn_min = std::chrono::seconds(1);  // for one turn, even if these have passed
  // How long renewals of the lease may only be late, as behind a large answer, until that is told.
  Duration lease_late = std::chrono::seconds(30);
};

inline constexpr RejoinLimits rejoin_limits;

class Rejoin {
 public:
  struct Settings {
    std::string node_name;
    Duration lease_renew_interval;
    Duration jitter;  // see Link::rejoin_delay_max()
  };
  Rejoin(Settings settings, ScopeTable& scopes, Uplink& uplink, ScopeReflectors& reflectors,
         OfflineStore& offline_store, NodeLease& lease, Registration& registration,
         const Clock& clock, Random& random);

  // Probes the link and rejoins. Runs until cancelled.
  asio::awaitable<void> maintain_link();
  // Probes servers that are out of rotation. Runs until cancelled.
  asio::awaitable<void> probe_servers();
  // While connected: sends the writes that were refused earlier when they are due. Runs until
  // cancelled.
  asio::awaitable<void> replay_when_due();
  // While connected: reads or registers the Node again if that failed before. Runs until cancelled.
  asio::awaitable<void> check_node_when_due();
  // Call it after these tasks have ended: waits for what they left running.
  asio::awaitable<void> join();

 private:
  // Renews the lease. While the link is offline, a change of the machine's network ends this: what
  // is under way may have been sent from an address that is gone.
  asio::awaitable<void> probe();
  asio::awaitable<void> renew_lease();
  // Renews the lease during a rejoin, so that the node does not become Unknown because of a long
  // one. Runs until cancelled.
  asio::awaitable<void> renew_meanwhile();
  // Tells once that the API server refuses to renew the lease, and of the end of that.
  void note_lease(const Status& renewed);
  void look_for_setback();
  // The API server's data was replaced by older data. Lists all scopes again, now or in the rejoin:
  // their watches would wait for versions that may never come, and show objects that are gone.
  void note_setback(const NodeLease::Setback& setback);
  // The own Node in the cache, and the scope that holds it; null if it is not there.
  struct CachedNode {
    ScopePtr scope;
    const sync::watch::CachedObject* object = nullptr;
  };
  [[nodiscard]] CachedNode cached_node() const;
  asio::awaitable<void> rejoin();
  asio::awaitable<Status> run_stages();
  // Reads the Node from the API server. In a rejoin, while the lease is renewed, a server that is
  // overloaded is asked again after the pause that it asks for: it is no outage. Errors: those of
  // the link; unavailable, if that lasts too long.
  asio::awaitable<Result<http::Response>> read_node();
  // Checks that the cloud still has the same node, and drops statuses that it has overtaken. If the
  // cloud has deleted the node, it is registered again.
  // If it cannot be read, or is not let register, that is not an error; it is tried again later.
  asio::awaitable<Status> check_node();
  // Compares the version of the Node, as the API server has answered, with the one that was cached
  // before it was asked: it goes back only if the API server's data does.
  void note_node_version(sync::objects::Version before, std::string_view text);
  // Notes that the Node's state in the cloud is not known, or not as it should be.
  void check_node_later();
  // Tells once of a Node that cannot be read.
  void note_unreadable(const std::string& why);
  // Sends the queued writes. If the server does not take some but answers for the Node, these are
  // left to replay_when_due(), so that one bad write does not keep the node offline.
  asio::awaitable<Status> send_writes();
  // Brings all scopes up to date, turn by turn.
  asio::awaitable<Status> refresh_by_priority();
  // Sends the writes accepted meanwhile and brings the scopes up to date that show them, until none
  // is left.
  asio::awaitable<Status> catch_up();
  // Lets the scopes that show local versions return to the API server's, if its answers to the
  // writes allow that.
  void settle_scopes();
  asio::awaitable<void> wait_for(std::vector<ScopePtr> scopes, MonoTime since, Duration limit);
  // RejoinLimits::turn on the path as it is now.
  [[nodiscard]] Duration turn_limit() const;
  [[nodiscard]] bool was_delayed_since(MonoTime time) const;

  const Settings settings_;
  ScopeTable& scopes_;
  Uplink& uplink_;
  ScopeReflectors& reflectors_;
  OfflineStore& offline_store_;
  NodeLease& lease_;
  Registration& registration_;
  const Clock& clock_;
  Random& random_;
  Replay replay_;
  std::shared_ptr<loop::Tasks> probe_;      // the last one
  bool has_probed_ = false;                 // it has ended
  std::shared_ptr<loop::Tasks> meanwhile_;  // runs during the current rejoin
  MonoTime began_{};                        // the current rejoin
  // The server did not take writes in the current rejoin.
  bool writes_postponed_ = false;
  std::optional<MonoTime> node_due_;            // when to check the Node again
  Duration node_pause_{};                       // the last pause before that
  sync::pacing::Backoff overload_backoff_{{}};  // of read_node(); grows over several rejoins
  std::string known_node_;     // as it was last known, in JSON; "" if the cloud has it
  std::string node_problem_;   // why the Node could not be read, as it was told last
  std::string lease_problem_;  // the same for the lease
  // The newest version that the API server has shown in the current rejoin.
  sync::objects::Version shown_ = 0;
  // The current rejoin had scopes that were not refreshed in time.
  bool missed_scopes_ = false;
};

}  // namespace holdfast::agent
