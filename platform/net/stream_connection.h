// Connection over an Asio stream: the common part of TCP and TLS. Private to platform/net.

#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <memory>
#include <utility>

#include "platform/loop/cancellation.h"
#include "platform/loop/timer.h"
#include "platform/net/connection.h"
#include "platform/net/socket_owner.h"

namespace holdfast::net {

using asio::ip::tcp;

// The address that a socket is connected to; empty if it is no longer connected.
[[nodiscard]] Peer peer_of(const tcp::socket& socket);

// Whether the peer has neither closed, reset nor sent anything, as far as the kernel knows.
[[nodiscard]] bool seems_open(tcp::socket& socket);

// Sets TCP keepalive and no-delay, so that a dead peer does not hold a connection for ever.
void tune(tcp::socket& socket);

// Cancels a socket's operations at a deadline, and records that the deadline has passed. With
// `closes`, the socket is closed, so that a connect to several addresses does not continue with the
// next one.
class Deadline {
 public:
  explicit Deadline(tcp::socket& socket, bool closes = false)
      : state_(std::make_shared<State>(socket.get_executor(), &socket, closes)) {}
  ~Deadline() {
    state_->socket = nullptr;
    state_->timer.cancel();
  }
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

  void set(MonoTime deadline);
  [[nodiscard]] bool passed() const { return state_->passed; }

 private:
  struct State {
    State(const asio::any_io_executor& executor, tcp::socket* watched, bool closes_it)
        : timer(executor, MonoTime::max()), socket(watched), closes(closes_it) {}
    loop::Timer timer;
    tcp::socket* socket;  // null after the connection was destroyed
    bool closes;
    bool passed = false;
    std::uint64_t round = 0;
  };
  std::shared_ptr<State> state_;
};

// `Stream` is tcp::socket or ssl::stream<tcp::socket>.
template <class Stream>
class StreamConnection final : public Connection {
 public:
  StreamConnection(Stream stream, Peer peer)
      : stream_(std::move(stream)), deadline_(socket()), peer_(std::move(peer)) {}

  Stream& stream() { return stream_; }
  tcp::socket& socket() { return stream_of(stream_); }
  void set_peer(Peer peer) { peer_ = std::move(peer); }

  asio::awaitable<Result<std::size_t>> read_some(std::span<char> into) override {
    if (deadline_.passed()) co_return fail(Errc::timeout, "read: deadline passed");
    boost::system::error_code ec;
    const auto buffer = asio::buffer(into.data(), into.size());
    const std::size_t count = co_await stream_.async_read_some(buffer, loop::into(ec));
    loop::leave_if_cancelled(ec, co_await asio::this_coro::cancellation_state);
    if (ec && is_end(ec)) co_return std::size_t{0};
    if (ec) co_return fail(error("read", ec));
    co_return count;
  }

  asio::awaitable<Status> write(std::string_view bytes) override {
    if (deadline_.passed()) co_return fail(Errc::timeout, "write: deadline passed");
    boost::system::error_code ec;
    const auto buffer = asio::buffer(bytes.data(), bytes.size());
    co_await asio::async_write(stream_, buffer, loop::into(ec));
    loop::leave_if_cancelled(ec, co_await asio::this_coro::cancellation_state);
    if (ec) co_return fail(error("write", ec));
    Status sent;
    co_return sent;
  }

  void shutdown_write() override {
    send_close_notify();
    boost::system::error_code ignored;
    socket().shutdown(tcp::socket::shutdown_send, ignored);
  }

  void expires_at(MonoTime deadline) override { deadline_.set(deadline); }

  void close() override {
    boost::system::error_code ignored;
    socket().close(ignored);
  }

  void reset() override {
    // A socket that does not linger is closed by a reset.
    boost::system::error_code ignored;
    socket().set_option(asio::socket_base::linger(true, 0), ignored);
    close();
  }

  [[nodiscard]] bool seems_open() override { return !has_unread() && net::seems_open(socket()); }

  [[nodiscard]] const Peer& peer() const override { return peer_; }
  void confirm_owner() override {
    if (peer_.owner && owner_of_loopback_peer(socket()) != peer_.owner) peer_.owner.reset();
  }

  void set_protocol(std::string protocol) { protocol_ = std::move(protocol); }
  [[nodiscard]] std::string_view protocol() const override { return protocol_; }

 private:
  static tcp::socket& stream_of(tcp::socket& stream) { return stream; }
  template <class Layered>
  static tcp::socket& stream_of(Layered& stream) {
    return stream.next_layer();
  }

  static bool is_end(const boost::system::error_code& ec);
  void send_close_notify();  // sends TLS's close_notify
  bool has_unread();         // whether the TLS layer holds unread bytes

  [[nodiscard]] Error error(std::string what, const boost::system::error_code& ec) const {
    if (deadline_.passed()) return Error{Errc::timeout, std::move(what) + ": deadline passed", ec};
    return loop::to_error(ec, std::move(what));
  }

  Stream stream_;
  Deadline deadline_;
  Peer peer_;
  std::string protocol_;
};

}  // namespace holdfast::net
