// WebSocket messages (RFC 6455) for a server: the handshake, and frames as bytes. No I/O.
//
// Extensions are not offered, so frames are neither compressed nor have reserved bits.

#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "platform/http/message.h"
#include "platform/result.h"

namespace holdfast::http::websocket {

enum class Opcode : std::uint8_t {
  continuation = 0,
  text = 1,
  binary = 2,
  close = 8,
  ping = 9,
  pong = 10,
};

// A whole message; of a control frame its payload.
struct Message {
  Opcode opcode = Opcode::binary;
  std::string payload;

  bool operator==(const Message&) const = default;
};

// Joins the frames of a client to messages.
class Reader {
 public:
  // A message of more than `message_bytes` is refused before it is stored.
  explicit Reader(std::size_t message_bytes) : message_bytes_(message_bytes) {}

  // Errors: invalid (against the protocol: a frame without a mask, reserved bits, an unknown
  // opcode, a broken sequence, a control frame that is large or in parts), exhausted (over the
  // limit). After an error, put() must not be called again.
  [[nodiscard]] Status put(std::string_view bytes);
  // The next complete message, in order; nothing until more bytes arrive.
  [[nodiscard]] std::optional<Message> take();

 private:
  struct Head {
    bool final = false;
    Opcode opcode = Opcode::continuation;
    std::uint64_t length = 0;
    std::size_t size = 0;  // bytes of the head with the mask
    std::string_view mask;
  };
  [[nodiscard]] Result<std::optional<Head>> parse_head() const;
  [[nodiscard]] Status check(const Head& head) const;
  void add(const Head& head);

  std::size_t message_bytes_;
  std::string pending_;          // bytes of an incomplete frame
  std::optional<Message> open_;  // a message whose last frame has not arrived
  std::deque<Message> done_;
};

// One whole message as a frame. `mask` has 4 bytes if a client sends it, and none if a server does.
[[nodiscard]] std::string frame(Opcode opcode, std::string_view payload,
                                std::string_view mask = {});

// The payload of a close frame.
[[nodiscard]] std::string close_payload(std::uint16_t code, std::string_view reason);

// Whether the request asks for a WebSocket, well-formed or not.
[[nodiscard]] bool asks_for_websocket(const Headers& headers);

struct Handshake {
  std::string protocol;  // one of those that were offered
  Headers headers;       // of the response with status 101
};

// Accepts the first protocol of the client that is among `protocols`. Errors: invalid, naming what
// is wrong with the request, also if it offers none of them.
[[nodiscard]] Result<Handshake> accept(const Request& request,
                                       std::span<const std::string_view> protocols);

}  // namespace holdfast::http::websocket
