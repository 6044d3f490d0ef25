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

#include "platform/net/stream_connection.h"
#include "platform/net/transport.h"

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

// Completes a connection to the server `host`, whose name is verified. With `tls` null it is plain.
template <class Socket>
asio::awaitable<Result<std::unique_ptr<Connection>>> establish_connected(
    Socket socket, std::string host, std::shared_ptr<const tls::Context> tls, MonoTime deadline,
    std::span<const std::string_view> protocols) {
  using Tls = asio::ssl::stream<Socket>;
  Peer peer = peer_of(socket);
  if (tls == nullptr) co_return plain_connection(std::move(socket), std::move(peer));
  auto made = std::make_unique<StreamConnection<Tls>>(Tls(std::move(socket), tls->native()),
                                                      std::move(peer));
  boost::system::error_code ec;
  const std::string& name = tls->server_name().empty() ? host : tls->server_name();
  if (tls->verifies_peer()) {
    made->stream().set_verify_callback(asio::ssl::host_name_verification(name), ec);
  }
  if (asio::ip::make_address(name, ec); ec) {
    tls::set_server_name(made->stream().native_handle(), name);
  }
  if (!protocols.empty()) tls::offer_protocols(made->stream().native_handle(), protocols);
  Deadline limit(made->socket());
  limit.set(deadline);
  co_await made->stream().async_handshake(asio::ssl::stream_base::client, loop::into(ec));
  loop::leave_if_cancelled(ec, co_await asio::this_coro::cancellation_state);
  if (ec) co_return fail(handshake_error(ec, limit.passed()));
  limit.set(MonoTime::max());
  made->set_protocol(tls::agreed_protocol(made->stream().native_handle()));
  std::unique_ptr<Connection> connection = std::move(made);
  co_return connection;
}

}  // namespace holdfast::net
