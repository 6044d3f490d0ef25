// Keeps an Observed up to date: by watches on the API server, and by polling the edge agents. It
// changes nothing in the cluster.
//
// Threading: the loop's thread only.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <memory>
#include <string>

#include "agent/client/api_client.h"
#include "agent/lab/up/observed.h"
#include "platform/loop/tasks.h"

namespace holdfast::agent::lab::up {

namespace asio = boost::asio;

// Where the admin endpoint of a node's edge agent answers.
struct AgentAddress {
  std::string node = {};
  std::function<std::uint16_t()> port = {};  // of this machine; 0: none
  std::string host = {};  // the endpoint's own address, if `port` is forwarded; empty: the same
};

class Observer {
 public:
  // The client and the clock outlive join().
  Observer(asio::any_io_executor executor, ApiClient& client, const Clock& clock);

  [[nodiscard]] Observed& observed() { return observed_; }

  // Starts the watches.
  void start();

  // Polls what the edge agent of a node says.
  void follow(AgentAddress agent);

  void cancel() { tasks_.cancel(); }
  asio::awaitable<void> join() { return tasks_.join(); }

 private:
  asio::awaitable<void> watch_nodes();
  asio::awaitable<void> watch_pods();
  asio::awaitable<void> watch_leases();
  asio::awaitable<void> watch_agent(AgentAddress agent);

  ApiClient& client_;
  const Clock& clock_;
  Observed observed_;
  loop::Tasks tasks_;
};

// What an agent's /v1/status says.
[[nodiscard]] AgentSeen agent_seen(std::string_view status);

}  // namespace holdfast::agent::lab::up
