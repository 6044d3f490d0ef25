// Creates Connections: listens, accepts and connects, over TCP or TLS.

#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "platform/net/connection.h"
#include "platform/net/network_namespace.h"
#include "platform/tls/context.h"

namespace holdfast::net {

// "127.0.0.1:10261", "[::1]:443", "example.org:6443".
struct HostPort {
  std::string host;
  std::uint16_t port = 0;

  // Errors: invalid, quoting the text.
  [[nodiscard]] static Result<HostPort> parse(std::string_view text);
  [[nodiscard]] std::string text() const;
  // Whether the host is a loopback address; false for a name, even "localhost".
  [[nodiscard]] bool is_loopback() const;
  bool operator==(const HostPort&) const = default;
};

// An accepted connection before the TLS handshake.
class Pending {
 public:
  virtual ~Pending() = default;
  // The peer, as far as it is known before the handshake.
  [[nodiscard]] virtual const Peer& peer() const = 0;
  // Completes the handshake, if there is one; call it once. Errors: timeout, denied (no or a bad
  // certificate), unavailable.
  virtual asio::awaitable<Result<std::unique_ptr<Connection>>> establish(MonoTime deadline) = 0;
};

class Listener {
 public:
  // Listens on `at`, whose host must be an IP address; port 0 selects a free port. With `tls` null,
  // connections are plain TCP. Once it listens, no other socket can bind to the same address,
  // whatever options it sets.
  // Errors: invalid (not an address), unavailable (in use), denied.
  [[nodiscard]] static Result<std::unique_ptr<Listener>> open(
      asio::any_io_executor executor, const HostPort& at, std::shared_ptr<const tls::Context> tls);
  virtual ~Listener() = default;

  // Waits for the next connection. Errors: cancelled after close(); exhausted (out of descriptors).
  virtual asio::awaitable<Result<std::unique_ptr<Pending>>> accept() = 0;
  virtual void close() = 0;
  [[nodiscard]] virtual std::uint16_t port() const = 0;
};

// Resolves and connects; with `tls`, also performs the handshake and verifies the server's name.
// `protocols` are offered to a TLS server (ALPN) in order of preference; the strings must live
// until this returns.
// Errors: timeout at `deadline`, denied (bad certificate), unavailable.
asio::awaitable<Result<std::unique_ptr<Connection>>> connect(
    HostPort to, std::shared_ptr<const tls::Context> tls, MonoTime deadline,
    std::span<const std::string_view> protocols = {});

// Connects over plain TCP in a network namespace; null stands for our own. In another one, the host
// must be an IP address. Errors: invalid (not an IP address), timeout, unavailable.
asio::awaitable<Result<std::unique_ptr<Connection>>> connect_inside(
    std::shared_ptr<const NetworkNamespace> where, HostPort to, MonoTime deadline);

}  // namespace holdfast::net
