#include "platform/net/transport.h"

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <cerrno>
#include <vector>

#include "platform/check.h"
#include "platform/loop/background.h"
#include "platform/loop/cancellation.h"
#include "platform/loop/timer.h"
#include "platform/net/establish.h"
#include "platform/net/network.h"
#include "platform/net/socket_owner.h"
#include "platform/text.h"

namespace holdfast::net {

using boost::system::error_code;

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

bool is_quiet(tcp::socket& socket) {
  char peeked = 0;
  const ssize_t count = recv(socket.native_handle(), &peeked, 1, MSG_PEEK | MSG_DONTWAIT);
  return count < 0 && errno == EAGAIN;
}

void end_sending(tcp::socket& socket) {
  error_code ignored;
  socket.shutdown(tcp::socket::shutdown_send, ignored);
}

void send_reset(tcp::socket& socket) {
  // A socket that does not linger is closed by a reset.
  error_code ignored;
  socket.set_option(asio::socket_base::linger(true, 0), ignored);
  socket.close(ignored);
}

void send_now(tcp::socket& socket, std::string_view bytes) {
  (void)send(socket.native_handle(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

Error handshake_error(const error_code& ec, bool late) {
  if (late) return Error{Errc::timeout, "TLS handshake: deadline passed", ec};
  const bool refused = ec.category() == asio::error::get_ssl_category();
  if (refused) return Error{Errc::denied, "TLS handshake: " + ec.message(), ec};
  return loop::to_error(ec, "TLS handshake");
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

// Sets TCP keepalive and no-delay, so that a dead peer does not hold a connection for ever.
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
    auto made = co_await establish_accepted(std::move(socket_), tls_, peer_, deadline);
    co_return made;
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

// Connects the socket, which may be open, to `to` before `deadline`. Errors begin with `what`.
asio::awaitable<Result<tcp::socket>> connect_tcp(tcp::socket socket, tcp::endpoint to,
                                                 std::string what, MonoTime deadline) {
  error_code ec;
  Deadline limit(socket, true);
  limit.set(deadline);
  co_await socket.async_connect(to, loop::into(ec));
  loop::leave_if_cancelled(ec, co_await asio::this_coro::cancellation_state);
  if (ec && limit.passed()) co_return fail(Errc::timeout, what + ": deadline passed");
  if (ec) co_return fail(loop::to_error(ec, what));
  limit.set(MonoTime::max());
  tune(socket);
  co_return socket;
}

// The addresses of the host as the machine resolves it. Blocks.
Result<std::vector<std::string>> look_up_now(const std::string& host) {
  asio::io_context context;  // a resolver needs one, and does nothing with it here
  tcp::resolver resolver(context);
  error_code ec;
  const auto found = resolver.resolve(host, "", ec);
  if (ec) return fail(Errc::unavailable, ec.message(), ec);
  std::vector<std::string> addresses;
  for (const auto& each : found) {
    std::string address = each.endpoint().address().to_string();
    const bool seen = std::find(addresses.begin(), addresses.end(), address) != addresses.end();
    if (!seen) addresses.push_back(std::move(address));
  }
  return addresses;
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

// A bound socket, of a listener or of an address that is kept for listeners.
Result<tcp::acceptor> bind(asio::any_io_executor executor, const HostPort& at) {
  error_code ec;
  const auto address = asio::ip::make_address(at.host, ec);
  if (ec) return fail(Errc::invalid, "listen address " + at.text() + ": not an IP address", ec);
  const tcp::endpoint endpoint(address, at.port);
  tcp::acceptor acceptor(std::move(executor));
  acceptor.open(endpoint.protocol(), ec);
  // Address reuse is needed to bind while connections of an earlier run are in TIME_WAIT.
  if (!ec) acceptor.set_option(asio::socket_base::reuse_address(true), ec);
  if (!ec) acceptor.bind(endpoint, ec);
  if (ec) return fail(loop::to_error(ec, "listen on " + at.text()));
  return acceptor;
}

// Whether another socket may bind to the address if it allows that, too.
void allow_reuse(tcp::acceptor& acceptor, bool is_allowed, error_code& ec) {
  acceptor.set_option(asio::socket_base::reuse_address(is_allowed), ec);
}

class TcpHolder final : public ReservedAddress::Holder {
 public:
  explicit TcpHolder(tcp::acceptor socket) : socket_(std::move(socket)) {}

  [[nodiscard]] Result<std::unique_ptr<Listener>> listen(
      const HostPort& at, std::shared_ptr<const tls::Context> tls) override {
    // Two sockets can bind to one address if both allow its reuse and neither is listening yet.
    // Once the listener is open, its own option keeps all others away.
    error_code ignored;
    allow_reuse(socket_, true, ignored);
    auto opened = Listener::open(socket_.get_executor(), at, std::move(tls));
    allow_reuse(socket_, false, ignored);
    return opened;
  }

 private:
  tcp::acceptor socket_;  // bound, but never listening
};

class KernelNetwork final : public Network {
 public:
  [[nodiscard]] Result<std::unique_ptr<Listener>> listen(
      asio::any_io_executor executor, const HostPort& at,
      std::shared_ptr<const tls::Context> tls) override {
    TRY(tcp::acceptor acceptor, bind(std::move(executor), at));
    error_code ec;
    acceptor.listen(asio::socket_base::max_listen_connections, ec);
    // From now on reuse would only let other programs bind to this address.
    if (!ec) allow_reuse(acceptor, false, ec);
    if (ec) return fail(loop::to_error(ec, "listen on " + at.text()));
    return std::unique_ptr<Listener>(
        std::make_unique<TcpListener>(std::move(acceptor), std::move(tls)));
  }

  [[nodiscard]] Result<ReservedAddress> reserve(asio::any_io_executor executor,
                                                const HostPort& at) override {
    TRY(tcp::acceptor socket, bind(std::move(executor), at));
    error_code ec;
    allow_reuse(socket, false, ec);
    HostPort reserved = at;
    if (!ec) reserved.port = socket.local_endpoint(ec).port();
    if (ec) return fail(loop::to_error(ec, "listen on " + at.text()));
    return ReservedAddress(std::make_unique<TcpHolder>(std::move(socket)), std::move(reserved));
  }

  void look_up(const asio::any_io_executor& executor, const std::string& host,
               OnAddresses done) override {
    const auto found = std::make_shared<Result<std::vector<std::string>>>();
    const auto shared_done = std::make_shared<OnAddresses>(std::move(done));
    const Status begun = loop::run_in_background(
        executor, [host, found] { *found = look_up_now(host); },
        [found, shared_done] { (*shared_done)(std::move(*found)); });
    if (begun) return;
    asio::post(executor, [shared_done, why = begun.error()] { (*shared_done)(fail(why)); });
  }

  asio::awaitable<Result<std::unique_ptr<Dialed>>> dial(HostPort to, std::string address,
                                                        MonoTime deadline) override {
    const std::string what = connecting_to(to, address);
    error_code ec;
    const tcp::endpoint at(asio::ip::make_address(address, ec), to.port);
    if (ec) co_return fail(loop::to_error(ec, what));
    tcp::socket closed(co_await asio::this_coro::executor);
    CO_TRY(tcp::socket socket, co_await connect_tcp(std::move(closed), at, what, deadline));
    co_return dialed_socket(std::move(socket));
  }

  [[nodiscard]] Result<std::unique_ptr<NetworkChanges>> watch_changes(
      const asio::any_io_executor& executor) override {
    return kernel_network_changes(executor);
  }
};

}  // namespace

Network& kernel_network() {
  static KernelNetwork kernel;
  return kernel;
}

asio::awaitable<Result<std::unique_ptr<Connection>>> connect_inside(
    std::shared_ptr<const NetworkNamespace> where, HostPort to, MonoTime deadline) {
  if (!where) co_return co_await connect(std::move(to), nullptr, deadline);
  error_code ec;
  const auto address = asio::ip::make_address(to.host, ec);
  if (ec) co_return fail(Errc::invalid, "connect to " + to.text() + ": not an IP address", ec);
  const tcp::endpoint endpoint(address, to.port);
  const auto executor = co_await asio::this_coro::executor;
  CHECK(&network_of(executor) == &kernel_network());  // namespaces are the kernel's
  CO_TRY(tcp::socket opened, open_inside(*where, endpoint, executor));
  std::string what = "connect to " + to.text();
  CO_TRY(tcp::socket socket,
         co_await connect_tcp(std::move(opened), endpoint, std::move(what), deadline));
  Peer peer = peer_of(socket);
  co_return plain_connection(std::move(socket), std::move(peer));
}

}  // namespace holdfast::net
