#include "platform/net/transport.h"

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/this_coro.hpp>
#include <cerrno>

#include "platform/loop/cancellation.h"
#include "platform/loop/timer.h"
#include "platform/net/socket_owner.h"
#include "platform/net/stream_connection.h"
#include "platform/text.h"
#include "platform/tls/names.h"

namespace holdfast::net {

namespace ssl = boost::asio::ssl;
using boost::system::error_code;
using TlsStream = ssl::stream<tcp::socket>;

Peer peer_of(const tcp::socket& socket) {
  error_code ec;
  const auto remote = socket.remote_endpoint(ec);
  if (ec) return {};
  Peer peer{.address = remote.address().to_string(), .port = remote.port()};
  const auto local = socket.local_endpoint(ec);
  if (ec) return peer;
  peer.local_address = local.address().to_string();
  peer.local_port = local.port();
  return peer;
}

void tune(tcp::socket& socket) {
  // A dead peer is detected within about a minute: 30 s of silence, then four unanswered probes.
  constexpr int idle_s = 30;
  constexpr int interval_s = 8;
  constexpr int probes = 4;
  const int fd = socket.native_handle();
  error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  socket.set_option(asio::socket_base::keep_alive(true), ignored);
  (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
  (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof interval_s);
  (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
}

bool seems_open(tcp::socket& socket) {
  char peeked = 0;
  const ssize_t count = recv(socket.native_handle(), &peeked, 1, MSG_PEEK | MSG_DONTWAIT);
  return count < 0 && errno == EAGAIN;
}

void Deadline::set(MonoTime deadline) {
  const std::uint64_t round = ++state_->round;
  state_->passed = false;
  if (deadline == MonoTime::max()) {
    state_->timer.cancel();
    return;
  }
  state_->timer.expires_at(deadline);
  state_->timer.async_wait([state = state_, round](const error_code& ec) {
    if (ec || round != state->round || state->socket == nullptr) return;
    state->passed = true;
    error_code ignored;
    if (state->closes) {
      state->socket->close(ignored);
    } else {
      state->socket->cancel(ignored);
    }
  });
}

template <>
bool StreamConnection<tcp::socket>::is_end(const error_code& ec) {
  return ec == asio::error::eof;
}

template <>
bool StreamConnection<TlsStream>::is_end(const error_code& ec) {
  // Many servers close without close_notify; HTTP's own framing detects a truncated message.
  return ec == asio::error::eof || ec == ssl::error::stream_truncated;
}

template <>
void StreamConnection<tcp::socket>::send_close_notify() {}

template <>
void StreamConnection<TlsStream>::send_close_notify() {
  const std::string bytes = tls::take_close_notify(stream_.native_handle());
  // Everything written before has been sent, so there is room in the socket's buffer. If not,
  // closing the connection has to suffice.
  (void)send(socket().native_handle(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

template <>
bool StreamConnection<tcp::socket>::has_unread() {
  return false;
}

template <>
bool StreamConnection<TlsStream>::has_unread() {
  return tls::has_unread(stream_.native_handle());
}

Result<HostPort> HostPort::parse(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  const auto bad = [text] {
    return fail(Errc::invalid, "not HOST:PORT: \"" + std::string(text) + "\"");
  };
  if (colon == std::string_view::npos) return bad();
  std::string_view host = text.substr(0, colon);
  const bool bracketed = host.starts_with('[') && host.ends_with(']');
  if (bracketed) host = host.substr(1, host.size() - 2);
  if (host.empty() || (!bracketed && host.find(':') != std::string_view::npos)) return bad();
  const auto port = parse_int<std::uint16_t>(text.substr(colon + 1));
  if (!port) return bad();
  return HostPort{std::string(host), *port};
}

std::string HostPort::text() const {
  const bool is_v6 = host.find(':') != std::string::npos;
  return (is_v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

bool HostPort::is_loopback() const {
  error_code ec;
  const auto address = asio::ip::make_address(host, ec);
  return !ec && address.is_loopback();
}

namespace {

Error tls_error(const error_code& ec, bool late) {
  if (late) return Error{Errc::timeout, "TLS handshake: deadline passed", ec};
  const bool refused = ec.category() == asio::error::get_ssl_category();
  if (refused) return Error{Errc::denied, "TLS handshake: " + ec.message(), ec};
  return loop::to_error(ec, "TLS handshake");
}

class Accepted final : public Pending {
 public:
  Accepted(tcp::socket socket, std::shared_ptr<const tls::Context> tls)
      : socket_(std::move(socket)), tls_(std::move(tls)), peer_(peer_of(socket_)) {
    peer_.owner = owner_of_loopback_peer(socket_);
    // The listener's own option is off (see Listener::open()). It must be on here, or a connection
    // in TIME_WAIT would keep the next run of this program from listening.
    error_code ignored;
    socket_.set_option(asio::socket_base::reuse_address(true), ignored);
  }

  [[nodiscard]] const Peer& peer() const override { return peer_; }

  asio::awaitable<Result<std::unique_ptr<Connection>>> establish(MonoTime deadline) override {
    tune(socket_);
    Peer peer = peer_;
    if (tls_ == nullptr) {
      std::unique_ptr<Connection> plain =
          std::make_unique<StreamConnection<tcp::socket>>(std::move(socket_), std::move(peer));
      co_return plain;
    }
    auto made = std::make_unique<StreamConnection<TlsStream>>(
        TlsStream(std::move(socket_), tls_->native()), peer);
    Deadline limit(made->socket());
    limit.set(deadline);
    error_code ec;
    co_await made->stream().async_handshake(ssl::stream_base::server, loop::into(ec));
    loop::leave_if_cancelled(ec, co_await asio::this_coro::cancellation_state);
    limit.set(MonoTime::max());
    if (ec) co_return fail(tls_error(ec, limit.passed()));
    tls::read_peer_names(made->stream().native_handle(), peer.common_name, peer.organizations);
    made->set_peer(std::move(peer));
    made->set_protocol(tls::agreed_protocol(made->stream().native_handle()));
    std::unique_ptr<Connection> connection = std::move(made);
    co_return connection;
  }

 private:
  tcp::socket socket_;
  std::shared_ptr<const tls::Context> tls_;
  Peer peer_;
};

class TcpListener final : public Listener {
 public:
  TcpListener(tcp::acceptor acceptor, std::shared_ptr<const tls::Context> tls)
      : acceptor_(std::move(acceptor)), tls_(std::move(tls)) {}

  asio::awaitable<Result<std::unique_ptr<Pending>>> accept() override {
    error_code ec;
    tcp::socket socket = co_await acceptor_.async_accept(loop::into(ec));
    loop::leave_if_cancelled(ec, co_await asio::this_coro::cancellation_state);
    if (ec) co_return fail(loop::to_error(ec, "accept"));
    std::unique_ptr<Pending> pending = std::make_unique<Accepted>(std::move(socket), tls_);
    co_return pending;
  }

  void close() override {
    error_code ignored;
    acceptor_.close(ignored);
  }

  [[nodiscard]] std::uint16_t port() const override {
    error_code ec;
    return acceptor_.local_endpoint(ec).port();
  }

 private:
  tcp::acceptor acceptor_;
  std::shared_ptr<const tls::Context> tls_;
};

// Connects to one of the addresses of `to` before `deadline`.
asio::awaitable<Result<tcp::socket>> connect_tcp(HostPort to, MonoTime deadline) {
  const auto executor = co_await asio::this_coro::executor;
  error_code ec;
  tcp::resolver::results_type addresses;
  const auto literal = asio::ip::make_address(to.host, ec);
  if (!ec) {
    addresses = tcp::resolver::results_type::create(tcp::endpoint(literal, to.port), to.host, "");
  } else {
    // Shared, because the timer's handler may still run after the addresses have arrived.
    const auto resolver = std::make_shared<tcp::resolver>(executor);
    loop::Timer limit(executor, deadline);
    limit.async_wait([resolver](const error_code& wait_ec) {
      if (!wait_ec) resolver->cancel();
    });
    addresses = co_await resolver->async_resolve(to.host, std::to_string(to.port), loop::into(ec));
    loop::leave_if_cancelled(ec, co_await asio::this_coro::cancellation_state);
    const bool late = limit.cancel() == 0;
    if (ec && late) co_return fail(Errc::timeout, "resolve " + to.host + ": deadline passed");
    if (ec) co_return fail(loop::to_error(ec, "resolve " + to.host));
  }
  tcp::socket socket(executor);
  Deadline limit(socket, true);
  limit.set(deadline);
  co_await asio::async_connect(socket, addresses, loop::into(ec));
  loop::leave_if_cancelled(ec, co_await asio::this_coro::cancellation_state);
  if (ec && limit.passed()) {
    co_return fail(Errc::timeout, "connect to " + to.text() + ": deadline passed");
  }
  if (ec) co_return fail(loop::to_error(ec, "connect to " + to.text()));
  limit.set(MonoTime::max());
  tune(socket);
  co_return socket;
}

// A socket that was created in the namespace.
Result<tcp::socket> open_inside(const NetworkNamespace& where, const tcp::endpoint& to,
                                const asio::any_io_executor& executor) {
  const InsideNamespace inside(&where);
  tcp::socket socket(executor);
  error_code ec;
  socket.open(to.protocol(), ec);
  if (ec) return fail(loop::to_error(ec, "socket"));
  return socket;
}

}  // namespace

Result<std::unique_ptr<Listener>> Listener::open(asio::any_io_executor executor, const HostPort& at,
                                                 std::shared_ptr<const tls::Context> tls) {
  error_code ec;
  const auto address = asio::ip::make_address(at.host, ec);
  if (ec) return fail(Errc::invalid, "listen address " + at.text() + ": not an IP address", ec);
  const tcp::endpoint endpoint(address, at.port);
  tcp::acceptor acceptor(executor);
  acceptor.open(endpoint.protocol(), ec);
  if (!ec) acceptor.set_option(asio::socket_base::reuse_address(true), ec);
  if (!ec) acceptor.bind(endpoint, ec);
  if (!ec) acceptor.listen(asio::socket_base::max_listen_connections, ec);
  // Address reuse is needed to bind while connections of an earlier run are in TIME_WAIT. From now
  // on it would only let other programs bind to this address.
  if (!ec) acceptor.set_option(asio::socket_base::reuse_address(false), ec);
  if (ec) return fail(loop::to_error(ec, "listen on " + at.text()));
  return std::unique_ptr<Listener>(
      std::make_unique<TcpListener>(std::move(acceptor), std::move(tls)));
}

asio::awaitable<Result<std::unique_ptr<Connection>>> connect(
    HostPort to, std::shared_ptr<const tls::Context> tls, MonoTime deadline,
    std::span<const std::string_view> protocols) {
  CO_TRY(tcp::socket socket, co_await connect_tcp(to, deadline));
  Peer peer = peer_of(socket);
  if (tls == nullptr) {
    std::unique_ptr<Connection> plain =
        std::make_unique<StreamConnection<tcp::socket>>(std::move(socket), std::move(peer));
    co_return plain;
  }
  auto made = std::make_unique<StreamConnection<TlsStream>>(
      TlsStream(std::move(socket), tls->native()), std::move(peer));
  error_code ec;
  const std::string& name = tls->server_name().empty() ? to.host : tls->server_name();
  if (tls->verifies_peer()) {
    made->stream().set_verify_callback(ssl::host_name_verification(name), ec);
  }
  if (asio::ip::make_address(name, ec); ec) {
    tls::set_server_name(made->stream().native_handle(), name);
  }
  if (!protocols.empty()) tls::offer_protocols(made->stream().native_handle(), protocols);
  Deadline limit(made->socket());
  limit.set(deadline);
  co_await made->stream().async_handshake(ssl::stream_base::client, loop::into(ec));
  loop::leave_if_cancelled(ec, co_await asio::this_coro::cancellation_state);
  if (ec) co_return fail(tls_error(ec, limit.passed()));
  limit.set(MonoTime::max());
  made->set_protocol(tls::agreed_protocol(made->stream().native_handle()));
  std::unique_ptr<Connection> connection = std::move(made);
  co_return connection;
}

asio::awaitable<Result<std::unique_ptr<Connection>>> connect_inside(
    std::shared_ptr<const NetworkNamespace> where, HostPort to, MonoTime deadline) {
  if (!where) co_return co_await connect(std::move(to), nullptr, deadline);
  error_code ec;
  const auto address = asio::ip::make_address(to.host, ec);
  if (ec) co_return fail(Errc::invalid, "connect to " + to.text() + ": not an IP address", ec);
  const tcp::endpoint endpoint(address, to.port);
  const auto executor = co_await asio::this_coro::executor;
  CO_TRY(tcp::socket socket, open_inside(*where, endpoint, executor));
  Deadline limit(socket, true);
  limit.set(deadline);
  co_await socket.async_connect(endpoint, loop::into(ec));
  loop::leave_if_cancelled(ec, co_await asio::this_coro::cancellation_state);
  if (ec && limit.passed()) {
    co_return fail(Errc::timeout, "connect to " + to.text() + ": deadline passed");
  }
  if (ec) co_return fail(loop::to_error(ec, "connect to " + to.text()));
  limit.set(MonoTime::max());
  tune(socket);
  Peer peer = peer_of(socket);
  std::unique_ptr<Connection> plain =
      std::make_unique<StreamConnection<tcp::socket>>(std::move(socket), std::move(peer));
  co_return plain;
}

}  // namespace holdfast::net
