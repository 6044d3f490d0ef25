// How a connection reaches its server: directly or through a proxy, with or without TLS.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>
#include <string>

#include "platform/net/connection.h"
#include "platform/net/transport.h"
#include "platform/tls/context.h"

namespace holdfast::net {

// A server that opens tunnels to other servers; platform/proxy implements the protocols.
class Proxy {
 public:
  virtual ~Proxy() = default;

  // For logs and errors: "http://proxy:3128". Never contains credentials.
  [[nodiscard]] virtual const std::string& name() const = 0;
  [[nodiscard]] virtual const HostPort& at() const = 0;
  // For the connection to the proxy itself; null: plain TCP.
  [[nodiscard]] virtual const std::shared_ptr<const tls::Context>& tls() const = 0;

  // Asks the proxy at the other end of `connection` for a tunnel to `to`. Afterwards the connection
  // carries the bytes of `to`. The deadline is the connection's. Errors: timeout; unavailable (the
  // proxy refuses); corrupt (it does not answer as a proxy); invalid (`to` cannot be written).
  virtual asio::awaitable<Status> open(Connection& connection, HostPort to) const = 0;
};

struct Route {
  HostPort to;
  std::shared_ptr<const tls::Context> tls = {};  // null: plain TCP
  std::shared_ptr<const Proxy> proxy = {};       // null: a direct connection
};

}  // namespace holdfast::net
