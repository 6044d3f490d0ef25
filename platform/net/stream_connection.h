// Connection over an Asio stream: the common part of TCP, TLS and connections in memory. Private to
// platform/net.

#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <memory>
#include <utility>

#include "platform/loop/cancellation.h"
#include "platform/loop/timer.h"
#include "platform/net/connection.h"
#include "platform/net/socket_owner.h"
#include "platform/tls/names.h"

namespace holdfast::net {

using asio::ip::tcp;

// What StreamConnection and Deadline need of a socket besides what Asio's streams have: close(),
// cancel() and these functions.

// The address that a socket is connected to; empty if it is no longer connected.
[[nodiscard]] Peer peer_of(const tcp::socket& socket);

// Whether the peer has neither closed, reset nor sent anything, as far as is known locally.
[[nodiscard]] bool is_quiet(tcp::socket& socket);

// Ends the sending direction.
void end_sending(tcp::socket& socket);

// Closes the socket so that the peer sees a reset.
void send_reset(tcp::socket& socket);

// Sends as many bytes as there is room for, without waiting.
void send_now(tcp::socket& socket, std::string_view bytes);

// Cancels a socket's operations at a deadline, and records that the deadline has passed. With
// `closes`, the socket is closed, so that a connect to several addresses does not continue with the
// next one.
template <class Socket>
class Deadline {
 public:
  explicit Deadline(Socket& socket, bool closes = false)
      : state_(std::make_shared<State>(socket.get_executor(), &socket, closes)) {}
  ~Deadline() {
    state_->socket = nullptr;
    state_->timer.cancel();
  }
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

  void set(MonoTime deadline) {
    const std::uint64_t round = ++state_->round;
    state_->passed = false;
    if (deadline == MonoTime::max()) {
      state_->timer.cancel();
      return;
    }
    state_->timer.expires_at(deadline);
    state_->timer.async_wait([state = state_, round](const boost::system::error_code& ec) {
      if (!ec && round == state->round && state->socket != nullptr) pass(*state);
    });
  }

  [[nodiscard]] bool passed() const { return state_->passed; }

 private:
  struct State {
    State(const asio::any_io_executor& executor, Socket* watched, bool closes_it)
        : timer(executor, MonoTime::max()), socket(watched), closes(closes_it) {}
    loop::Timer timer;
    Socket* socket;  // null after the connection was destroyed
    bool closes;
    bool passed = false;
    std::uint64_t round = 0;
  };

  static void pass(State& state) {
    state.passed = true;
    boost::system::error_code ignored;
    if (state.closes) {
      state.socket->close(ignored);
    } else {
      state.socket->cancel(ignored);
    }
  }

  std::shared_ptr<State> state_;
};

// The layers of a stream: a socket, TLS over one, or TLS inside the TLS of a proxy.
template <class Stream>
struct Layers {
  using Socket = Stream;
  static constexpr bool has_tls = false;
  static Socket& socket(Stream& stream) { return stream; }
  static bool has_unread(Stream& /*stream*/) { return false; }
  // What has to be sent on the socket for `bytes` to leave this layer.
  static std::string on_wire(Stream& /*stream*/, std::string bytes) { return bytes; }
  // What has to be sent on the socket to end this layer and those below it.
  static std::string close_notify(Stream& /*stream*/) { return {}; }
};

template <class Below>
struct Layers<asio::ssl::stream<Below>> {
  using Stream = asio::ssl::stream<Below>;
  using Under = Layers<Below>;
  using Socket = typename Under::Socket;
  static constexpr bool has_tls = true;
  static Socket& socket(Stream& stream) { return Under::socket(stream.next_layer()); }
  static bool has_unread(Stream& stream) {
    return tls::has_unread(stream.native_handle()) || Under::has_unread(stream.next_layer());
  }
  static std::string on_wire(Stream& stream, std::string bytes) {
    return Under::on_wire(stream.next_layer(), tls::seal_now(stream.native_handle(), bytes));
  }
  static std::string close_notify(Stream& stream) {
    std::string ours = tls::take_close_notify(stream.native_handle());
    if (!ours.empty()) ours = Under::on_wire(stream.next_layer(), std::move(ours));
    return ours + Under::close_notify(stream.next_layer());
  }
};

// `Stream` is a socket, which stands for plain TCP, or ssl::stream of one, also twice.
template <class Stream>
class StreamConnection final : public Connection {
 public:
  using Socket = typename Layers<Stream>::Socket;

  StreamConnection(Stream stream, Peer peer)
      : stream_(std::move(stream)), deadline_(socket()), peer_(std::move(peer)) {}

  Stream& stream() { return stream_; }
  Socket& socket() { return Layers<Stream>::socket(stream_); }
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
    // Everything written before has been sent, so there is room for TLS's close_notify. If not,
    // closing the connection has to suffice.
    if constexpr (Layers<Stream>::has_tls) {
      send_now(socket(), Layers<Stream>::close_notify(stream_));
    }
    end_sending(socket());
  }

  void expires_at(MonoTime deadline) override { deadline_.set(deadline); }

  void close() override {
    boost::system::error_code ignored;
    socket().close(ignored);
  }

  void reset() override { send_reset(socket()); }

  [[nodiscard]] bool seems_open() override {
    return !Layers<Stream>::has_unread(stream_) && is_quiet(socket());
  }

  [[nodiscard]] const Peer& peer() const override { return peer_; }
  void confirm_owner() override {
    if (peer_.owner && owner_of_loopback_peer(socket()) != peer_.owner) peer_.owner.reset();
  }

  void set_protocol(std::string protocol) { protocol_ = std::move(protocol); }
  [[nodiscard]] std::string_view protocol() const override { return protocol_; }

 private:
  static bool is_end(const boost::system::error_code& ec) {
    if (ec == asio::error::eof) return true;
    // Many servers close without close_notify; HTTP's own framing detects a truncated message.
    return Layers<Stream>::has_tls && ec == asio::ssl::error::stream_truncated;
  }

  [[nodiscard]] Error error(std::string what, const boost::system::error_code& ec) const {
    if (deadline_.passed()) return Error{Errc::timeout, std::move(what) + ": deadline passed", ec};
    return loop::to_error(ec, std::move(what));
  }

  Stream stream_;
  Deadline<Socket> deadline_;
  Peer peer_;
  std::string protocol_;
};

}  // namespace holdfast::net
