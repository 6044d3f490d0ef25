// Leader election for holdfast-cloud: the shell round sync::Elector, with a client of its own.
//
// Its requests share nothing with the controller's: however long the queue of writes is, renewals
// do not wait in it. A follower also watches the one Lease, so that it takes over in the moment in
// which it is released and need not wait for its next try.
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
  std::string component = "holdfast-cloud";  // who tells of it in events; no flag
};
void add_options(config::Options& options, LeaderSettings& settings);
// Errors: invalid, naming the flags.
[[nodiscard]] Status check(const LeaderSettings& settings);

// "HOST_UUID", as client-go's programs call themselves.
[[nodiscard]] std::string make_identity(Random& random);

class Leader final : public WritePermit, private ListWatchSource, private ListWatchSink {
 public:
  struct Hooks {
    std::function<void()> lead;                        // it is our turn
    std::function<void(const std::string& why)> lose;  // it was; end the process
  };

  // `client`, `clock` and what the hooks refer to outlive it. `settings` has passed check().
  Leader(asio::any_io_executor executor, const LeaderSettings& settings, std::string identity,
         ApiClient& client, const Clock& clock, Hooks hooks);

  void start();
  // Once nothing is written any more: gives the lease back, if it is ours.
  asio::awaitable<void> release(MonoTime deadline);

  // Renewed often enough; or waits, for ever if somebody else leads.
  asio::awaitable<MonoTime> wait() override;

  [[nodiscard]] bool leads() const { return elector_.leads(); }
  [[nodiscard]] const std::string& identity() const { return identity_; }
  // Upstream's check "leaderElection". Errors: timeout.
  [[nodiscard]] Status health() const;

 private:
  asio::awaitable<void> run();
  asio::awaitable<void> watch();
  asio::awaitable<void> perform_all();
  asio::awaitable<sync::election::Input> ask(sync::election::Action request);
  asio::awaitable<void> record(std::string what);
  void feed(sync::election::Input input);
  void take(sync::election::Action action);
  void look(const std::string& lease);

  asio::awaitable<Result<http::Response>> send(ApiRequest request, bool streamed) override;
  void replace(std::vector<std::string> items, const std::string& version,
               const sync::ScopeKind& kind) override;
  void apply(const sync::WatchEvent& event) override;
  void bookmark(const std::string& /*version*/) override {}

  std::string identity_;
  std::string folder_;  // the path of all leases of its namespace
  LeaderSettings settings_;
  ApiClient& client_;
  const Clock& clock_;
  Hooks hooks_;
  Random random_;
  sync::Elector elector_;
  std::optional<sync::election::Action> request_;
  sync::ObjectMeta lease_;  // as last seen, for events
  bool nudged_ = false;
  bool ended_ = false;
  loop::Event changed_;
  loop::Tasks tasks_;
  loop::Tasks watching_;
  loop::Tasks telling_;
};

}  // namespace holdfast::agent
