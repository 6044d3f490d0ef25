// Makes a Connection of a connected socket, with the TLS handshake if there is one. `Socket` is as
// for StreamConnection. Private to platform/net.

#pragma once

#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/this_coro.hpp>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "platform/net/network.h"
#include "platform/net/route.h"
#include "platform/net/stream_connection.h"

namespace holdfast::net {

// The error of a handshake that failed with `ec`, or whose deadline passed.
[[nodiscard]] Error handshake_error(const boost::system::error_code& ec, bool late);

template <class Socket>
std::unique_ptr<Connection> plain_connection(Socket socket, Peer peer) {
  return std::make_unique<StreamConnection<Socket>>(std::move(socket), std::move(peer));
}

// Completes an accepted connection. With `tls` null it is plain.
template <class Socket>
asio::awaitable<Result<std::unique_ptr<Connection>>> establish_accepted(
    Socket socket, std::shared_ptr<const tls::Context> tls, Peer peer, MonoTime deadline) {
  using Tls = asio::ssl::stream<Socket>;
  if (tls == nullptr) co_return plain_connection(std::move(socket), std::move(peer));
  auto made = std::make_unique<StreamConnection<Tls>>(Tls(std::move(socket), tls->native()), peer);
  Deadline limit(made->socket());
  limit.set(deadline);
  boost::system::error_code ec;
  co_await made->stream().async_handshake(asio::ssl::stream_base::server, loop::into(ec));
  loop::leave_if_cancelled(ec, co_await asio::this_coro::cancellation_state);
  limit.set(MonoTime::max());
  if (ec) co_return fail(handshake_error(ec, limit.passed()));
  tls::read_peer_names(made->stream().native_handle(), peer.common_name, peer.organizations);
  made->set_peer(std::move(peer));
  made->set_protocol(tls::agreed_protocol(made->stream().native_handle()));
  std::unique_ptr<Connection> connection = std::move(made);
  co_return connection;
}

// How to secure a connection to the server `host`, whose name is verified.
struct ClientHandshake {
  std::string host;
  std::shared_ptr<const tls::Context> tls;
  std::span<const std::string_view> protocols;
};

// Performs a client's TLS handshake over `below`: a socket, or a TLS stream to a proxy.
template <class Below>
asio::awaitable<Result<std::unique_ptr<StreamConnection<asio::ssl::stream<Below>>>>> secure(
    Below below, Peer peer, ClientHandshake with, MonoTime deadline) {
  using Tls = asio::ssl::stream<Below>;
  auto made = std::make_unique<StreamConnection<Tls>>(Tls(std::move(below), with.tls->native()),
                                                      std::move(peer));
  boost::system::error_code ec;
  const std::string& wanted = with.tls->server_name();
  const std::string& name = wanted.empty() ? with.host : wanted;
  if (with.tls->verifies_peer()) {
    made->stream().set_verify_callback(asio::ssl::host_name_verification(name), ec);
  }
  if (asio::ip::make_address(name, ec); ec) {
    tls::set_server_name(made->stream().native_handle(), name);
  }
  const auto& protocols = with.protocols;
  if (!protocols.empty()) tls::offer_protocols(made->stream().native_handle(), protocols);
  Deadline limit(made->socket());
  limit.set(deadline);
  co_await made->stream().async_handshake(asio::ssl::stream_base::client, loop::into(ec));
  loop::leave_if_cancelled(ec, co_await asio::this_coro::cancellation_state);
  if (ec) co_return fail(handshake_error(ec, limit.passed()));
  limit.set(MonoTime::max());
  made->set_protocol(tls::agreed_protocol(made->stream().native_handle()));
  co_return made;
}

// Opens a tunnel through the route's proxy, to which `below` is connected, and completes the
// connection to the route's server inside it.
template <class Stream>
asio::awaitable<Result<std::unique_ptr<Connection>>> establish_through(
    std::unique_ptr<StreamConnection<Stream>> below, Route route, MonoTime deadline,
    std::span<const std::string_view> protocols) {
  below->expires_at(deadline);
  HostPort to = route.to;
  const Status opened = co_await route.proxy->open(*below, std::move(to));
  if (!opened) co_return fail(opened.error());
  below->expires_at(MonoTime::max());
  std::unique_ptr<Connection> connection;
  if (route.tls == nullptr) {
    connection = std::move(below);
    co_return connection;
  }
  ClientHandshake inside{std::move(route.to.host), std::move(route.tls), protocols};
  Peer peer = below->peer();
  auto made =
      co_await secure(std::move(below->stream()), std::move(peer), std::move(inside), deadline);
  if (!made) co_return fail(made.error());
  connection = *std::move(made);
  co_return connection;
}

// Completes a connection to the route's server, or to its proxy.
template <class Socket>
asio::awaitable<Result<std::unique_ptr<Connection>>> establish_connected(
    Socket socket, Route route, MonoTime deadline, std::span<const std::string_view> protocols) {
  Peer peer = peer_of(socket);
  const bool proxied = route.proxy != nullptr;
  const std::shared_ptr<const tls::Context> tls = proxied ? route.proxy->tls() : route.tls;
  if (tls == nullptr) {
    auto plain = std::make_unique<StreamConnection<Socket>>(std::move(socket), std::move(peer));
    if (proxied) {
      co_return co_await establish_through(std::move(plain), std::move(route), deadline, protocols);
    }
    std::unique_ptr<Connection> connection = std::move(plain);
    co_return connection;
  }
  // A proxy is asked over HTTP/1.1 or SOCKS, so nothing is negotiated with it.
  ClientHandshake with{proxied ? route.proxy->at().host : route.to.host, tls, {}};
  if (!proxied) with.protocols = protocols;
  auto made = co_await secure(std::move(socket), std::move(peer), std::move(with), deadline);
  if (!made) co_return fail(made.error());
  if (proxied) {
    co_return co_await establish_through(*std::move(made), std::move(route), deadline, protocols);
  }
  std::unique_ptr<Connection> connection = *std::move(made);
  co_return connection;
}

template <class Socket>
class DialedSocket final : public Dialed {
 public:
  explicit DialedSocket(Socket socket) : socket_(std::move(socket)) {}

  asio::awaitable<Result<std::unique_ptr<Connection>>> establish(
      Route route, MonoTime deadline, std::span<const std::string_view> protocols) override {
    auto made =
        co_await establish_connected(std::move(socket_), std::move(route), deadline, protocols);
    co_return made;
  }

 private:
  Socket socket_;
};

template <class Socket>
std::unique_ptr<Dialed> dialed_socket(Socket socket) {
  return std::make_unique<DialedSocket<Socket>>(std::move(socket));
}

}  // namespace holdfast::net
