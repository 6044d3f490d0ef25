// Leader election for holdfast-cloud: runs sync::election::Elector with an API client of its own.
// Renewals never wait behind the writes of the controllers, because they use their own client. A
// follower also watches the Lease, so that it takes over as soon as the leader releases it instead
// of at its next retry.
//
// Threading: the loop's thread only.

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "agent/client/limited_client.h"
#include "agent/client/list_watch.h"
#include "platform/loop/event.h"
#include "platform/loop/tasks.h"
#include "platform/random.h"
#include "sync/election/elector.h"

namespace holdfast::agent {

struct LeaderSettings {
  bool elect = true;
  Duration lease_duration = std::chrono::seconds(15);
  Duration renew_deadline = std::chrono::seconds(10);
  Duration retry_period = std::chrono::seconds(2);
  std::string resource_lock = "leases";
  std::string resource_name = "holdfast-cloud";
  std::string resource_namespace = "kube-system";
  std::string component = "holdfast-cloud";  // source of the Events; no flag
};
void add_options(config::Options& options, LeaderSettings& settings);
// Errors: invalid, naming the flags.
[[nodiscard]] Status check(const LeaderSettings& settings);

// "HOST_UUID", the identity format of client-go's programs.
[[nodiscard]] std::string make_identity(Random& random);

class Leader final : public WritePermit, private ListWatchSource, private ListWatchSink {
 public:
  struct Hooks {
    std::function<void()> lead;  // this replica became the leader
    // The process must end: the lease is lost, or the API server's data was replaced.
    std::function<void(const std::string& why)> end;
  };

  // `client`, `clock` and everything that the hooks refer to outlive it. `settings` has passed
  // check().
  Leader(asio::any_io_executor executor, const LeaderSettings& settings, std::string identity,
         ApiClient& client, const Clock& clock, Hooks hooks);

  // Starts to compete for the lease.
  void start();
  // Releases the lease if this replica holds it. Call it when no write is under way any more.
  asio::awaitable<void> release(MonoTime deadline);

  // WritePermit: returns the time until which the lease is surely held. Waits while it is not, for
  // ever if another replica leads.
  asio::awaitable<MonoTime> wait() override;

  [[nodiscard]] bool leads() const { return elector_.leads(); }
  [[nodiscard]] const std::string& identity() const { return identity_; }
  // Upstream's health check "leaderElection". Errors: timeout if the lease could not be renewed.
  [[nodiscard]] Status health() const;

 private:
  asio::awaitable<void> run();
  asio::awaitable<void> watch();
  // Sends the elector's requests until it has no more.
  asio::awaitable<void> perform_all();
  asio::awaitable<sync::election::Input> ask(sync::election::Action request);
  // Writes an Event about the Lease, "IDENTITY `what`".
  asio::awaitable<void> record(std::string what);
  void feed(sync::election::Input input);
  void take(sync::election::Action action);
  // Wakes run() if the Lease was released.
  void check_released(const std::string& lease);

  asio::awaitable<Result<http::Response>> send(ApiRequest request, bool streamed) override;
  void replace(std::vector<std::string> items, const std::string& version,
               const sync::wire::ScopeKind& kind) override;
  void apply(const sync::wire::WatchEvent& event) override;
  void bookmark(const std::string& /*version*/) override {}

  std::string identity_;
  std::string folder_;  // the API path of the Leases of its namespace
  LeaderSettings settings_;
  ApiClient& client_;
  const Clock& clock_;
  Hooks hooks_;
  Random random_;
  sync::election::Elector elector_;
  std::optional<sync::election::Action> request_;  // to be sent next
  sync::ObjectMeta lease_;                         // as last seen, for events
  bool lease_released_ = false;                    // the watch saw the lease released
  bool ended_ = false;
  loop::Event changed_;
  loop::Tasks tasks_;
  loop::Tasks watch_tasks_;
  loop::Tasks event_tasks_;
};

}  // namespace holdfast::agent
