// A WebSocket on a connection: reads messages, answers pings, and finds peers that are gone.
//
// A message is read only when the caller asks for it, so a caller that is slow slows the peer.
//
// Threading: the loop's thread only. One coroutine may read; several may write.

#pragma once

#include <memory>
#include <string>

#include "platform/http/websocket.h"
#include "platform/loop/event.h"
#include "platform/net/connection.h"

namespace holdfast::agent::node {

namespace asio = boost::asio;

struct WebSocketLimits {
  std::size_t message_bytes = 256UL * 1024;
  Duration ping = std::chrono::seconds(15);    // between our pings
  Duration silence = std::chrono::minutes(2);  // a peer that sends nothing for so long is gone
  Duration idle = std::chrono::hours(4);       // without a message, as the kubelet has it
};

class WebSocket {
 public:
  WebSocket(const asio::any_io_executor& executor, std::shared_ptr<net::Connection> connection,
            const WebSocketLimits& limits = {});

  // The next text or binary message. Errors: unavailable (the peer has closed the WebSocket or the
  // connection), timeout (it is silent), invalid and exhausted, after which the peer was told why.
  asio::awaitable<Result<http::websocket::Message>> read();
  // Sends a message when those before it are sent. Errors: those of Connection::write().
  asio::awaitable<Status> write(http::websocket::Opcode opcode, std::string payload);
  // Says that nothing more is sent, and why.
  asio::awaitable<void> end(std::uint16_t code, std::string reason);
  // Sends pings until the connection ends or is idle for too long. Run it beside the reader.
  asio::awaitable<void> keep_alive();

  void close() { connection_->close(); }

 private:
  asio::awaitable<Status> receive();

  std::shared_ptr<net::Connection> connection_;
  WebSocketLimits limits_;
  const Clock& clock_;
  http::websocket::Reader reader_;
  loop::Event written_;
  bool is_writing_ = false;
  bool is_over_ = false;
  MonoTime last_message_;
};

// A stream of bytes in the binary messages of a WebSocket, which outlives it.
[[nodiscard]] std::shared_ptr<net::Connection> bytes_of(std::shared_ptr<WebSocket> socket);

}  // namespace holdfast::agent::node
