// A cluster in virtual time: the lab's API server behind doors on loopback, and nodes that renew
// their leases every ten seconds as kubelets do.

#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "agent/cloud/cloud_service.h"
#include "agent/lab/apiserver/apiserver.h"
#include "platform/http/server.h"
#include "test/support/scratch_dir.h"
#include "test/support/virtual_time.h"

namespace holdfast::agent {

using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace)

// One way to the API server, which can be shut or go deaf.
class Door {
 public:
  enum class State : std::uint8_t {
    open,
    shut,  // connections are refused, and what was open is cut
    hole,  // nothing is answered any more, and no stream moves
    mute,  // requests are answered, but no stream moves
  };

  Door(asio::any_io_executor executor, lab::ApiServer& api);

  void set(test::VirtualTime& time, State state);
  [[nodiscard]] std::uint16_t port() const { return port_; }

  // In all that comes through, the first text is replaced by the second.
  std::pair<std::string, std::string> spoil;

  // "PATCH /api/v1/nodes/a", without the query, with "(watch)" behind a watch.
  std::vector<std::string> asked;

 private:
  class Stream;
  asio::awaitable<http::Response> answer(const http::Request& request);
  void listen();

  asio::any_io_executor executor_;
  lab::ApiServer& api_;
  loop::Event changed_;
  State state_ = State::open;
  std::uint16_t port_ = 0;
  std::unique_ptr<http::Server> server_;
};

// A holdfast-cloud of that cluster.
class Replica {
 public:
  Replica(test::VirtualTime& time, const CloudSettings& settings);
  ~Replica();
  Replica(const Replica&) = delete;
  Replica& operator=(const Replica&) = delete;

  void stop();
  [[nodiscard]] CloudService& operator*() { return *daemon_; }
  [[nodiscard]] CloudService* operator->() { return daemon_.get(); }

  bool gave_up = false;

 private:
  test::VirtualTime& time_;
  std::unique_ptr<CloudService> daemon_;
  bool stopped_ = false;
};

class Cluster {
 public:
  Cluster();
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  // Defaults, but for what would leave this process: no election, no port.
  [[nodiscard]] CloudSettings settings(const Door& door) const;
  [[nodiscard]] std::unique_ptr<Replica> replica() {
    return std::make_unique<Replica>(time, settings(door));
  }

  // Answers the body; anything but success fails the test.
  std::string ask(http::Method method, std::string target, std::string body = "",
                  std::string type = "application/json");

  void add_node(const std::string& name);
  void remove_node(const std::string& name);
  // Tolerates a lost node for that long.
  void add_pod(const std::string& name, const std::string& node, std::int64_t seconds = 0);
  void annotate(const std::string& node, const std::string& key, const std::string& value);
  // Goes, or comes back and says so.
  void silence(const std::string& node) { living_.erase(node); }
  // Watches that are behind by now are answered with 410.
  void forget_history() { EXPECT_TRUE(api_->compact_now()); }
  void revive(const std::string& node);

  [[nodiscard]] sync::Node node(const std::string& name);
  [[nodiscard]] std::string ready(const std::string& name);  // "True", "Unknown", ...
  // "node.kubernetes.io/unreachable:NoSchedule ..." in order.
  [[nodiscard]] std::string taints(const std::string& name);
  [[nodiscard]] bool is_terminating(const std::string& pod);
  // How many of what was asked at `door` begin so.
  [[nodiscard]] static std::size_t count(const Door& door, const std::string& start);

  test::VirtualTime time;

 private:
  test::ScratchDir scratch_;
  std::unique_ptr<lab::ApiServer> api_;

 public:
  Door door;
  Door other_door;
  bool renewing = true;  // the API server is there for the nodes, too

 private:
  // Of the nodes, which nobody sets.
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
