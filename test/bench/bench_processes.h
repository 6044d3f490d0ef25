// The processes for the benchmarks of the edge agent: the lab's API server with a node and its
// pods, and one edge agent, on loopback.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "agent/lab/cluster/children.h"
#include "platform/http/client.h"
#include "test/bench/latency.h"

namespace holdfast::bench {

namespace asio = boost::asio;

class BenchProcesses {
 public:
  // `data` is an existing directory. With `tls` the server uses TLS.
  explicit BenchProcesses(std::filesystem::path data, bool tls = false);

  // Starts both programs and fills the server. Errors: the program that did not start.
  asio::awaitable<Status> start(int pods);
  asio::awaitable<Status> restart_agent();
  void kill_server() { children_.kill("apiserver"); }
  // Stops the server with SIGSTOP: the kernel keeps and accepts connections, but nothing answers.
  void freeze_server();
  void kill_agent() { children_.kill("edge"); }
  asio::awaitable<void> end();

  // Sends `count` GET requests for `target`, one after another. Errors: an answer that is not 200.
  asio::awaitable<Result<Latency>> ask_server(std::string target, int count);
  asio::awaitable<Result<Latency>> ask_agent(std::string target, int count);
  static asio::awaitable<Result<Latency>> ask(http::Client& client, std::string target, int count);
  // Repeats the request until the agent answers 200. Errors: timeout.
  asio::awaitable<Status> wait_for_agent(std::string target, MonoTime deadline);

  // A page of the agent's admin listener. Errors: an answer that is not 200.
  asio::awaitable<Result<std::string>> admin(std::string target);

  // POSTs an object to the server. Errors: an answer that is not 201.
  asio::awaitable<Status> create(std::string target, std::string body);

  // The size of the agent's program in bytes; of the stripped copy if there is one.
  [[nodiscard]] static Result<std::uintmax_t> agent_binary();
  // The agent's proportional set size, in KiB.
  [[nodiscard]] Result<std::int64_t> memory() const;
  // The most memory that the agent has had in RAM so far, in KiB.
  [[nodiscard]] Result<std::int64_t> peak_memory() const;
  // The agent's current number of connections to the server.
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
  SystemClock clock_;
  agent::lab::cluster::Children children_;
  std::unique_ptr<http::Client> server_;
  std::unique_ptr<http::Client> agent_;
  std::unique_ptr<http::Client> admin_;
};

// A figure of a file in /proc in which lines such as "VmHWM:   1234 kB" are, in KiB; the label is
// "VmHWM:". Errors: invalid (it is not there).
[[nodiscard]] Result<std::int64_t> kib_of(const std::string& file, std::string_view label);

// The proportional set size of a process, in KiB.
[[nodiscard]] Result<std::int64_t> memory_of(int pid);

}  // namespace holdfast::bench
