#include "agent/node/kubelet/web_socket.h"

#include <array>
#include <utility>

#include "platform/loop/clock.h"
#include "platform/loop/timer.h"

namespace holdfast::agent::node {
namespace {

using http::websocket::Message;
using http::websocket::Opcode;

constexpr std::size_t receive_bytes = 16UL * 1024;
constexpr std::uint16_t code_protocol_error = 1002;
constexpr std::uint16_t code_too_big = 1009;

class WebSocketBytes final : public net::Connection {
 public:
  explicit WebSocketBytes(std::shared_ptr<WebSocket> socket) : socket_(std::move(socket)) {}

  asio::awaitable<Result<std::size_t>> read_some(std::span<char> into) override {
    while (rest_.empty()) {
      CO_TRY(Message message, co_await socket_->read());
      rest_ = std::move(message.payload);
    }
    const std::size_t count = rest_.copy(into.data(), into.size());
    rest_.erase(0, count);
    co_return count;
  }
  asio::awaitable<Status> write(std::string_view bytes) override {
    return socket_->write(Opcode::binary, std::string(bytes));
  }
  void shutdown_write() override {}
  void expires_at(MonoTime /*deadline*/) override {}
  void close() override { socket_->close(); }
  [[nodiscard]] bool seems_open() override { return true; }
  [[nodiscard]] const net::Peer& peer() const override { return peer_; }
  [[nodiscard]] std::string_view protocol() const override { return {}; }

 private:
  std::shared_ptr<WebSocket> socket_;
  std::string rest_;
  net::Peer peer_;
};

}  // namespace

WebSocket::WebSocket(const asio::any_io_executor& executor,
                     std::shared_ptr<net::Connection> connection, const WebSocketLimits& limits)
    : connection_(std::move(connection)),
      limits_(limits),
      clock_(loop::clock_of(executor)),
      reader_(limits.message_bytes),
      written_(executor),
      last_message_(clock_.mono()) {}

asio::awaitable<Status> WebSocket::receive() {
  std::array<char, receive_bytes> buffer{};
  connection_->expires_at(clock_.mono() + limits_.silence);
  CO_TRY(const std::size_t count, co_await connection_->read_some(buffer));
  if (count == 0) co_return fail(Errc::unavailable, "WebSocket: the connection has ended");
  co_return reader_.put(std::string_view(buffer.data(), count));
}

asio::awaitable<Result<Message>> WebSocket::read() {
  for (;;) {
    std::optional<Message> message = reader_.take();
    if (!message) {
      const Status received = co_await receive();
      if (received) continue;
      const Error& error = received.error();
      if (error.code == Errc::invalid) co_await end(code_protocol_error, error.what);
      if (error.code == Errc::exhausted) co_await end(code_too_big, error.what);
      co_return fail(error);
    }
    if (message->opcode == Opcode::close) {
      std::string payload = message->payload;
      (void)co_await write(Opcode::close, std::move(payload));
      co_return fail(Errc::unavailable, "WebSocket: closed by the peer");
    }
    if (message->opcode == Opcode::ping) {
      std::string payload = message->payload;
      const Status answered = co_await write(Opcode::pong, std::move(payload));
      if (!answered) co_return fail(answered.error());
    }
    if (message->opcode != Opcode::binary && message->opcode != Opcode::text) continue;
    last_message_ = clock_.mono();
    co_return *std::move(message);
  }
}

asio::awaitable<Status> WebSocket::write(Opcode opcode, std::string payload) {
  while (is_writing_) co_await written_.wait();
  if (is_over_) co_return fail(Errc::unavailable, "WebSocket: already closed");
  // Also when the task is cancelled, the next writer must not wait for ever.
  struct Turn {
    explicit Turn(WebSocket& socket) : socket_(socket) { socket_.is_writing_ = true; }
    ~Turn() {
      socket_.is_writing_ = false;
      socket_.written_.notify_all();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    WebSocket& socket_;
  };
  const Turn turn(*this);
  is_over_ = opcode == Opcode::close;
  if (opcode == Opcode::binary) last_message_ = clock_.mono();
  const std::string bytes = http::websocket::frame(opcode, payload);
  co_return co_await connection_->write(bytes);
}

asio::awaitable<void> WebSocket::end(std::uint16_t code, std::string reason) {
  std::string payload = http::websocket::close_payload(code, reason);
  (void)co_await write(Opcode::close, std::move(payload));
  connection_->shutdown_write();
}

asio::awaitable<void> WebSocket::keep_alive() {
  for (;;) {
    co_await loop::sleep_until(clock_.mono() + limits_.ping);
    if (clock_.mono() >= last_message_ + limits_.idle) break;
    std::string nothing;
    const Status sent = co_await write(Opcode::ping, std::move(nothing));
    if (!sent) break;
  }
  connection_->close();
}

std::shared_ptr<net::Connection> bytes_of(std::shared_ptr<WebSocket> socket) {
  return std::make_shared<WebSocketBytes>(std::move(socket));
}

}  // namespace holdfast::agent::node
