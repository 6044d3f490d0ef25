// The network of an event loop: Listener::open(), ReservedAddress::open() and connect() go through
// it.
//
// A loop that was given none uses the kernel's. A test in virtual time, and the lab's simulator,
// give theirs a network in memory (memory_network.h), so that nothing on the loop opens a socket.

#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/execution_context.hpp>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "platform/net/connection.h"
#include "platform/net/network_changes.h"
#include "platform/net/reserved_address.h"
#include "platform/net/route.h"
#include "platform/net/transport.h"
#include "platform/tls/context.h"

namespace holdfast::net {

// A connection to an IP address, before a proxy opens a tunnel and before the TLS handshake.
class Dialed {
 public:
  virtual ~Dialed() = default;
  // Completes the connection to the route's server; call it once. Errors: timeout, denied (bad
  // certificate), unavailable, those of Proxy::open().
  virtual asio::awaitable<Result<std::unique_ptr<Connection>>> establish(
      Route route, MonoTime deadline, std::span<const std::string_view> protocols) = 0;
};

// Creates connections. Threading: the loop's thread only.
class Network {
 public:
  virtual ~Network() = default;

  // See Listener::open().
  [[nodiscard]] virtual Result<std::unique_ptr<Listener>> listen(
      asio::any_io_executor executor, const HostPort& at,
      std::shared_ptr<const tls::Context> tls) = 0;

  // See ReservedAddress::open().
  [[nodiscard]] virtual Result<ReservedAddress> reserve(asio::any_io_executor executor,
                                                        const HostPort& at) = 0;

  // Looks up the IP addresses of a host name, in the order in which to try them; that may take half
  // a minute and cannot be cancelled. Calls `done` once on the loop, later, unless the loop ends
  // first: a lookup does not keep it running. Errors: unavailable, exhausted. Use Names instead.
  using OnAddresses = std::function<void(Result<std::vector<std::string>>)>;
  virtual void look_up(const asio::any_io_executor& executor, const std::string& host,
                       OnAddresses done) = 0;

  // Connects to `address`, an IP address of the server `to`. Errors: timeout, unavailable; their
  // texts name the server.
  virtual asio::awaitable<Result<std::unique_ptr<Dialed>>> dial(HostPort to, std::string address,
                                                                MonoTime deadline) = 0;

  // See NetworkChanges::open().
  [[nodiscard]] virtual Result<std::unique_ptr<NetworkChanges>> watch_changes(
      const asio::any_io_executor& executor) = 0;
};

// Gives `loop` its network, once and before anything on it listens or connects. `network` is
// borrowed and must outlive the loop.
void set_network(asio::execution_context& loop, Network& network);

// The network of the executor's loop: the one of set_network(), or the kernel's.
[[nodiscard]] Network& network_of(const asio::any_io_executor& executor);

// As connect() of transport.h, but through the route's proxy if it has one; the proxy then resolves
// the server's name. Errors: those of connect() and of Proxy::open(), naming the proxy.
asio::awaitable<Result<std::unique_ptr<Connection>>> connect(
    Route route, MonoTime deadline, std::span<const std::string_view> protocols = {});

// The error of a connection that somebody else opens by this route, and that came too late: it says
// whether the name or the server did not answer.
[[nodiscard]] Error late_error(const asio::any_io_executor& executor, const Route& route);

// "connect to HOST:PORT", and the address if the host is a name.
[[nodiscard]] std::string connecting_to(const HostPort& to, const std::string& address);

// The kernel's network: TCP, and names as the machine resolves them.
[[nodiscard]] Network& kernel_network();

}  // namespace holdfast::net
