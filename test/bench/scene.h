// What the benchmark measures on: the lab's API server with a node and its pods, and one edge agent
// before it, as real processes on loopback.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <filesystem>
#include <memory>
#include <string>

#include "agent/lab/demo/child.h"
#include "platform/http/client.h"
#include "test/bench/latency.h"

namespace holdfast::bench {

namespace asio = boost::asio;

class Scene {
 public:
  // `data` is an existing directory. With `tls` the server is spoken to over TLS.
  explicit Scene(std::filesystem::path data, bool tls = false);

  // Starts both and fills the server. Errors: what did not come up.
  asio::awaitable<Status> start(int pods);
  asio::awaitable<Status> restart_agent();
  void kill_server() { children_.kill("apiserver"); }
  // It keeps its connections and takes more, and never answers.
  void freeze_server();
  void kill_agent() { children_.kill("edge"); }
  asio::awaitable<void> end();

  // Asks `count` times for `target`, one after the other. Errors: an answer that is not 200.
  asio::awaitable<Result<Latency>> ask_server(std::string target, int count);
  asio::awaitable<Result<Latency>> ask_agent(std::string target, int count);
  static asio::awaitable<Result<Latency>> ask(http::Client& client, std::string target, int count);
  // Asks until the agent answers 200. Errors: timeout.
  asio::awaitable<Status> wait_for_agent(std::string target, MonoTime deadline);

  // Posts an object to the server. Errors: an answer that is not 201.
  asio::awaitable<Status> create(std::string target, std::string body);

  // Bytes of the agent's program: the stripped copy where there is one.
  [[nodiscard]] static Result<std::uintmax_t> agent_binary();
  // Proportional set size of the agent, in KiB.
  [[nodiscard]] Result<std::int64_t> memory() const;
  // How many connections to the server the agent has now.
  [[nodiscard]] Result<std::size_t> agent_connections() const;

  [[nodiscard]] const http::Endpoint& server() const { return server_->endpoint(); }
  [[nodiscard]] http::Client& agent() { return *agent_; }

 private:
  asio::awaitable<Result<std::uint16_t>> port_of(std::string child, std::string message,
                                                 std::string field);
  [[nodiscard]] Status write_certificates();

  std::filesystem::path data_;
  bool tls_;
  std::string authority_pem_;
  agent::demo::Children children_;
  std::unique_ptr<http::Client> server_;
  std::unique_ptr<http::Client> agent_;
};

// Proportional set size of a process, in KiB.
[[nodiscard]] Result<std::int64_t> memory_of(int pid);

}  // namespace holdfast::bench
