// One end of a connection in memory, as an Asio stream, so that TLS can run over it. Private to
// platform/net.

#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/asio/compose.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "platform/net/connection.h"
#include "platform/net/memory_pipe.h"

namespace holdfast::net {

class MemorySocket {
 public:
  using executor_type = asio::any_io_executor;
  using lowest_layer_type = MemorySocket;

  // The two ends of a new connection. `near` belongs to the peer of `far` and vice versa.
  struct Ends;
  struct End {
    Peer peer;                         // of this end
    std::optional<SocketOwner> owner;  // of this end
  };
  [[nodiscard]] static Ends connect(const asio::any_io_executor& executor, End client, End server,
                                    std::shared_ptr<LinkDirection> to_server,
                                    std::shared_ptr<LinkDirection> to_client);

  // A connection, which does not keep its ends alive.
  class Watched;
  [[nodiscard]] Watched watched() const;

  ~MemorySocket();
  MemorySocket(MemorySocket&&) noexcept = default;
  MemorySocket& operator=(MemorySocket&&) = delete;
  MemorySocket(const MemorySocket&) = delete;
  MemorySocket& operator=(const MemorySocket&) = delete;

  [[nodiscard]] executor_type get_executor() const { return state_->executor; }
  lowest_layer_type& lowest_layer() { return *this; }

  template <class Buffers, class Token>
  auto async_read_some(const Buffers& buffers, Token&& token) {
    const asio::mutable_buffer first = first_of<asio::mutable_buffer>(buffers);
    const std::span into(static_cast<char*>(first.data()), first.size());
    return start(Transfer<Reading>{state_, {into}}, std::forward<Token>(token));
  }

  template <class Buffers, class Token>
  auto async_write_some(const Buffers& buffers, Token&& token) {
    const asio::const_buffer first = first_of<asio::const_buffer>(buffers);
    const std::string_view bytes(static_cast<const char*>(first.data()), first.size());
    return start(Transfer<Writing>{state_, {bytes}}, std::forward<Token>(token));
  }

  // As the functions of Asio's sockets.
  void cancel(boost::system::error_code& ec);
  void close(boost::system::error_code& ec);

  // The calls of StreamConnection; see there.
  friend Peer peer_of(const MemorySocket& socket) { return socket.state_->peer; }
  friend std::optional<SocketOwner> owner_of_loopback_peer(const MemorySocket& socket);
  friend bool is_quiet(MemorySocket& socket);
  friend void end_sending(MemorySocket& socket);
  friend void send_reset(MemorySocket& socket);
  friend void send_now(MemorySocket& socket, std::string_view bytes);

 private:
  struct Outcome {
    boost::system::error_code ec;
    std::size_t count = 0;
  };

  struct State {
    asio::any_io_executor executor;
    Peer peer;
    std::optional<SocketOwner> owner;
    std::shared_ptr<MemoryPipe> in;
    std::shared_ptr<MemoryPipe> out;
    std::weak_ptr<State> other;
    bool is_closed = false;
    bool knows_reader_gone = false;  // bytes were written after it had gone
    // The operations that wait; cancel() makes them end.
    bool is_reading = false;
    bool is_writing = false;
    bool cancels_read = false;
    bool cancels_write = false;
  };

  struct Reading {
    std::span<char> into;
    [[nodiscard]] std::optional<Outcome> attempt(State& state) const;
    static loop::Timer& ready(State& state) { return state.in->readable(); }
    static bool& waits(State& state) { return state.is_reading; }
  };

  struct Writing {
    std::string_view bytes;
    [[nodiscard]] std::optional<Outcome> attempt(State& state) const;
    static loop::Timer& ready(State& state) { return state.out->writable(); }
    static bool& waits(State& state) { return state.is_writing; }
  };

  // A composed operation: attempts the transfer each time it is woken.
  template <class Kind>
  struct Transfer {
    std::shared_ptr<State> state;
    Kind kind;
    bool has_begun = false;

    template <class Self>
    void operator()(Self& self, const boost::system::error_code& = {}) {
      const std::shared_ptr<State> kept = state;  // `self` and so this object are moved below
      if (!std::exchange(has_begun, true)) {
        Kind::waits(*kept) = true;
        asio::post(kept->executor, std::move(self));
        return;
      }
      std::optional<Outcome> outcome;
      if (self.get_cancellation_state().cancelled() != asio::cancellation_type::none) {
        outcome = Outcome{asio::error::operation_aborted};
      } else {
        outcome = kind.attempt(*kept);
      }
      if (!outcome) {
        Kind::ready(*kept).async_wait(std::move(self));
        return;
      }
      Kind::waits(*kept) = false;
      self.complete(outcome->ec, outcome->count);
    }
  };

  explicit MemorySocket(std::shared_ptr<State> state) : state_(std::move(state)) {}

  template <class Buffer, class Buffers>
  static Buffer first_of(const Buffers& buffers) {
    const auto end = asio::buffer_sequence_end(buffers);
    for (auto at = asio::buffer_sequence_begin(buffers); at != end; ++at) {
      const Buffer buffer(*at);
      if (buffer.size() > 0) return buffer;
    }
    return {};
  }

  template <class Operation, class Token>
  auto start(Operation operation, Token&& token) {
    return asio::async_compose<Token, void(boost::system::error_code, std::size_t)>(
        std::move(operation), token, state_->executor);
  }

  static void close(State& state, bool resets);

  std::shared_ptr<State> state_;
};

class MemorySocket::Watched {
 public:
  // Whether one of its ends is open.
  [[nodiscard]] bool is_open() const;
  // Both ends see a reset.
  void reset();

 private:
  friend class MemorySocket;
  std::weak_ptr<State> near_;
  std::weak_ptr<State> far_;
};

struct MemorySocket::Ends {
  MemorySocket client;
  MemorySocket server;
};

}  // namespace holdfast::net
