// A cluster in virtual time: the lab's API server, doors on loopback through which controllers
// connect to it, and nodes that renew their leases every ten seconds as kubelets do.

#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "agent/cloud/cloud_service.h"
#include "agent/lab/apiserver/apiserver.h"
#include "platform/http/server.h"
#include "platform/net/reserved_address.h"
#include "test/support/scratch_dir.h"
#include "test/support/virtual_time.h"

namespace holdfast::agent {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace)

// A listener in front of the API server. It records the requests and can simulate faults.
class FaultyProxy {
 public:
  enum class State : std::uint8_t {
    open,
    refuse,      // refuses connections and closes existing ones
    black_hole,  // answers no request, and streams deliver nothing
    mute,        // answers requests, but streams deliver nothing
    overloaded,  // answers 429 to all requests; open streams continue
  };

  FaultyProxy(asio::any_io_executor executor, lab::ApiServer& api);

  void set(test::VirtualTime& time, State state);
  [[nodiscard]] std::uint16_t port() const { return address_.at().port; }

  // In all answers and streams, the first text is replaced by the second; an empty first text turns
  // this off.
  std::pair<std::string, std::string> spoil;

  // From now on only requests whose text in `asked` is `request`, also their watches, get `status`,
  // or no answer if that is 0. "": none do.
  void refuse(std::string request, int status = 403);

  // The requests in order, without their queries: "PATCH /api/v1/nodes/a". Watches end with
  // " (watch)".
  std::vector<std::string> asked;

 private:
  class Stream;
  asio::awaitable<http::Response> answer(const http::Request& request);
  void listen();

  asio::any_io_executor executor_;
  lab::ApiServer& api_;
  loop::Event changed_;
  State state_ = State::open;
  std::string refused_;
  int refusal_ = 0;
  net::ReservedAddress address_;
  std::unique_ptr<http::Server> server_;
};

// One instance of holdfast-cloud. The constructor starts it; stop() and the destructor stop it.
class Replica {
 public:
  Replica(test::VirtualTime& time, const CloudSettings& settings);
  ~Replica();
  Replica(const Replica&) = delete;
  Replica& operator=(const Replica&) = delete;

  void stop();
  [[nodiscard]] CloudService& operator*() { return *service_; }
  [[nodiscard]] CloudService* operator->() { return service_.get(); }

  bool gave_up = false;  // it has asked to be ended, for example after it lost its lease

 private:
  test::VirtualTime& time_;
  std::unique_ptr<CloudService> service_;
  bool stopped_ = false;
};

class Cluster {
 public:
  Cluster();
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  // The default settings, but without leader election and without a port for metrics.
  [[nodiscard]] CloudSettings settings(const FaultyProxy& proxy) const;
  [[nodiscard]] std::unique_ptr<Replica> replica() {
    return std::make_unique<Replica>(time, settings(proxy));
  }

  // Sends a request to the API server directly, not through a proxy. Returns the body of the
  // answer; a status of 300 or more fails the test.
  std::string ask(http::Method method, std::string target, std::string body = "",
                  std::string type = "application/json");

  void add_node(const std::string& name);
  void remove_node(const std::string& name);
  // Adds a Ready pod that tolerates an unreachable or not-ready node for `seconds`.
  void add_pod(const std::string& name, const std::string& node, std::int64_t seconds = 0);
  void annotate(const std::string& node, const std::string& key, const std::string& value);
  // The node stops renewing its lease.
  void silence(const std::string& node) { living_.erase(node); }
  // Compacts the API server's history: watches from an older version are answered with 410.
  void forget_history() { EXPECT_TRUE(api_->compact_now()); }
  // The node renews its lease again and reports that it is Ready.
  void revive(const std::string& node);

  [[nodiscard]] sync::Node node(const std::string& name);
  // The status of the node's Ready condition: "True", "Unknown", ...
  [[nodiscard]] std::string ready(const std::string& name);
  // The node's taints in order, each as "key:effect" with a space after it.
  [[nodiscard]] std::string taints(const std::string& name);
  [[nodiscard]] bool is_terminating(const std::string& pod);
  // The number of requests at `proxy` that begin with `start`.
  [[nodiscard]] static std::size_t count(const FaultyProxy& proxy, const std::string& start);

  test::VirtualTime time;

 private:
  test::ScratchDir scratch_;
  std::unique_ptr<lab::ApiServer> api_;

 public:
  FaultyProxy proxy;
  FaultyProxy other_proxy;
  bool renewing = true;  // with false, no node renews its lease

 private:
  // The wall clock of the nodes, which jumps of the controller's wall clock do not affect.
  [[nodiscard]] WallTime nodes_clock() {
    return WallTime(std::chrono::seconds(1'420'110'000)) + time.clock().mono().time_since_epoch();
  }
  asio::awaitable<void> beat();
  asio::awaitable<void> send(http::Request request, std::string& body);

  std::set<std::string> living_;
  loop::Tasks tasks_;
};

inline const std::string lost_taints =
    "node.kubernetes.io/unreachable:NoSchedule node.kubernetes.io/unreachable:NoExecute ";

}  // namespace holdfast::agent
