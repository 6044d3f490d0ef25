// The network of an event loop: Listener::open(), ReservedAddress::open() and connect() go through
// it.
//
// A loop that was given none uses the kernel's. A test in virtual time, and the lab's simulator,
// give theirs a network in memory (memory_network.h), so that nothing on the loop opens a socket.

#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/execution_context.hpp>
#include <memory>
#include <span>
#include <string_view>

#include "platform/net/connection.h"
#include "platform/net/reserved_address.h"
#include "platform/net/route.h"
#include "platform/net/transport.h"
#include "platform/tls/context.h"

namespace holdfast::net {

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

  // See net::connect(). Names are resolved by the network, except those behind a proxy.
  virtual asio::awaitable<Result<std::unique_ptr<Connection>>> connect(
      Route route, MonoTime deadline, std::span<const std::string_view> protocols) = 0;
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

// The kernel's network: TCP, and names as the machine resolves them.
[[nodiscard]] Network& kernel_network();

}  // namespace holdfast::net
