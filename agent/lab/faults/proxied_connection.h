// One connection through a fault proxy: moves bytes between the client, a ToxicLink and the server.
//
// Each direction has a reader and a writer. The end of one direction is passed on without ending
// the other one, and a reset is passed on as a reset.
//
// Threading: the loop's thread only.

#pragma once

#include <array>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <memory>
#include <vector>

#include "agent/lab/faults/toxic_link.h"
#include "platform/loop/event.h"
#include "platform/loop/tasks.h"
#include "platform/net/transport.h"

namespace holdfast::agent::faults {

namespace asio = boost::asio;

struct ProxyLimits {
  std::size_t connections = 1000;           // of all proxies together; see limits_within()
  std::size_t held_bytes = 256UL << 20;     // in the toxics of all connections together
  std::size_t held_bytes_min = 16UL << 10;  // of each direction, also when that is used up
  std::size_t toxics = 32;                  // of each proxy
};

// What all proxies of a process use together.
struct ProxyLoad {
  ProxyLimits limits = {};
  std::size_t connections = 0;
  std::size_t held_bytes = 0;
};

// Bytes since the proxy was created, in one direction.
struct ProxyTraffic {
  std::uint64_t received = 0;
  std::uint64_t sent = 0;
};

class ProxiedConnection : public std::enable_shared_from_this<ProxiedConnection> {
 public:
  struct Settings {
    net::HostPort server;
    std::shared_ptr<const net::NetworkNamespace> connect_in;
    std::vector<Toxic> toxics;
    std::uint64_t seed = 0;
    std::shared_ptr<ProxyLoad> load;
    std::shared_ptr<ProxyTraffic> upstream;
    std::shared_ptr<ProxyTraffic> downstream;
  };

  ProxiedConnection(const asio::any_io_executor& executor, std::unique_ptr<net::Connection> client,
                    Settings settings);
  ~ProxiedConnection();
  ProxiedConnection(const ProxiedConnection&) = delete;
  ProxiedConnection& operator=(const ProxiedConnection&) = delete;

  // Connects to the server and moves bytes until the connection has ended. While a black hole keeps
  // the client's bytes back, the server is not connected to either.
  static asio::awaitable<void> run(std::shared_ptr<ProxiedConnection> self);

  void add(const Toxic& toxic);
  void change(const Toxic& toxic);
  void remove(const Toxic& toxic);

  // Whether the client has ended its stream, so that it may be gone, and the connection goes on.
  [[nodiscard]] bool is_abandoned() const { return client_has_ended_ && !is_over_; }

  // Ends the connection at once, for both the client and the server.
  void close() { end(Piece::Kind::close); }
  void reset() { end(Piece::Kind::reset); }

 private:
  using Self = std::shared_ptr<ProxiedConnection>;

  static asio::awaitable<bool> connect(Self self);
  static asio::awaitable<void> read(Self self, Stream direction);
  static asio::awaitable<void> write(Self self, Stream direction);
  // Delivers one piece. Returns false if the direction has ended.
  static asio::awaitable<bool> deliver(Self self, Stream direction, Piece piece);

  void feed(Stream direction, Piece piece);
  [[nodiscard]] bool has_room(Stream direction);
  void end(Piece::Kind how);
  // Updates the load and wakes the readers and writers.
  void wake();
  [[nodiscard]] net::Connection& source_of(Stream direction);
  [[nodiscard]] net::Connection& target_of(Stream direction);
  [[nodiscard]] ProxyTraffic& traffic_of(Stream direction);

  const Clock& clock_;
  asio::any_io_executor executor_;
  Settings settings_;
  ToxicLink link_;
  std::unique_ptr<net::Connection> client_;
  std::unique_ptr<net::Connection> server_;  // null until it is connected
  loop::Event changed_;
  std::size_t held_bytes_ = 0;  // the part of the load
  // For each direction: whether its bytes are dropped, because its source was reset in a black
  // hole.
  std::array<bool, 2> drops_{};
  int ended_directions_ = 0;
  bool client_has_ended_ = false;
  bool is_over_ = false;
};

}  // namespace holdfast::agent::faults
