// A proxy for tests: it speaks CONNECT or SOCKS 5, opens real tunnels on the loop's network, or
// answers whatever a test tells it.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "platform/loop/tasks.h"
#include "platform/net/transport.h"

namespace holdfast::test {

namespace asio = boost::asio;

class FakeProxy {
 public:
  struct Settings {
    bool socks = false;
    std::string user = {};  // asked for if it is not empty
    std::string password = {};
    // Sent instead, one text after each piece that arrives; then the proxy waits for the end.
    std::vector<std::string> script = {};
    bool floods = false;  // answers with a head that never ends
    std::shared_ptr<const tls::Context> tls = {};
    net::HostPort at = {.host = "127.0.0.1", .port = 0};
  };

  FakeProxy(asio::any_io_executor executor, Settings settings);
  ~FakeProxy();
  FakeProxy(const FakeProxy&) = delete;
  FakeProxy& operator=(const FakeProxy&) = delete;

  [[nodiscard]] std::uint16_t port() const;
  // Stops to accept connections, and closes those that are open.
  void stop();

  std::vector<std::string> asked;  // the servers to which tunnels were asked for: "cloud:443"
  std::string received;            // all bytes of the clients before their tunnels were open
  std::size_t flooded = 0;         // bytes sent by `floods`

 private:
  using ConnectionPtr = std::shared_ptr<net::Connection>;

  asio::awaitable<void> accept();
  asio::awaitable<void> serve(ConnectionPtr client);
  asio::awaitable<void> follow_script(ConnectionPtr client);
  asio::awaitable<void> flood(ConnectionPtr client);
  asio::awaitable<void> serve_connect(ConnectionPtr client);
  asio::awaitable<void> serve_socks(ConnectionPtr client);
  asio::awaitable<bool> log_in(ConnectionPtr client);
  asio::awaitable<void> tunnel(ConnectionPtr client, net::HostPort to, std::string good,
                               std::string bad);
  asio::awaitable<std::string> read(ConnectionPtr client, std::size_t count);

  asio::any_io_executor executor_;
  Settings settings_;
  std::unique_ptr<net::Listener> listener_;
  std::vector<std::weak_ptr<net::Connection>> clients_;
  loop::Tasks tasks_;
};

}  // namespace holdfast::test
