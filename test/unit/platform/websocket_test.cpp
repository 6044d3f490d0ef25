// WebSocket frames and handshakes, with hostile ones.

#include "platform/http/websocket.h"

#include <gtest/gtest.h>

namespace holdfast::http::websocket {
namespace {

constexpr std::string_view key_of_frame = "\x01\x02\x03\x04";

// What a reader makes of bytes: messages as "OPCODE:PAYLOAD", and the error.
std::string read_in_pieces(std::string_view bytes, std::size_t piece, std::size_t limit = 1000) {
  Reader reader(limit);
  std::string seen;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    const Status put = reader.put(bytes.substr(at, piece));
    while (const auto message = reader.take()) {
      const std::string& payload = message->payload;
      seen += std::to_string(static_cast<int>(message->opcode)) + ":" +
              (payload.size() > 20 ? std::to_string(payload.size()) + " bytes" : payload) + " ";
    }
    if (!put) return seen + put.error().what;
  }
  return seen;
}

std::string client(Opcode opcode, std::string_view payload, bool is_last = true) {
  std::string made = frame(opcode, payload, key_of_frame);
  if (!is_last) made[0] = static_cast<char>(made[0] & 0x7f);
  return made;
}

std::string with_head(std::initializer_list<int> bytes) {
  std::string made;
  for (const int byte : bytes) made += static_cast<char>(byte);
  return made + std::string(200, 'x');
}

TEST(WebSocketReader, JoinsFramesAndRefusesBrokenOnes) {
  using enum Opcode;
  const struct {
    const char* what;
    std::string bytes;
    std::string seen;
  } rows[] = {
      {"nothing", "", ""},
      {"a message", client(binary, "abc"), "2:abc "},
      {"an empty message", client(text, ""), "1: "},
      {"two messages", client(binary, "a") + client(text, "b"), "2:a 1:b "},
      {"a length of two bytes", client(binary, std::string(300, 'x')), "2:300 bytes "},
      {"parts",
       client(binary, "a", false) + client(continuation, "b", false) + client(continuation, "c"),
       "2:abc "},
      {"a ping between parts",
       client(binary, "a", false) + client(ping, "p") + client(continuation, "b"), "9:p 2:ab "},
      {"a close", client(close, close_payload(1000, "x")), "8:\x03\xe8x "},
      {"at the limit", client(binary, std::string(1000, 'x')), "2:1000 bytes "},
      {"over the limit", client(binary, std::string(1001, 'x')),
       "WebSocket: a message of more than 1000 bytes"},
      {"parts over the limit",
       client(binary, std::string(600, 'x'), false) + client(continuation, std::string(600, 'x')),
       "WebSocket: a message of more than 1000 bytes"},
      {"an endless length", with_head({0x82, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}),
       "WebSocket: a message of more than 1000 bytes"},
      {"no mask", frame(binary, "abc"), "WebSocket: a frame of a client without a mask"},
      {"a reserved bit", with_head({0xc2, 0x80}), "WebSocket: a reserved bit is set"},
      {"an unknown opcode", with_head({0x83, 0x80}), "WebSocket: unknown opcode"},
      {"an unknown control opcode", with_head({0x8b, 0x80}), "WebSocket: unknown opcode"},
      {"a ping in parts", client(ping, "p", false),
       "WebSocket: a control frame that is large or in parts"},
      {"a large ping", client(ping, std::string(126, 'x')),
       "WebSocket: a control frame that is large or in parts"},
      {"a part without a beginning", client(continuation, "x"),
       "WebSocket: frames of messages are mixed"},
      {"a message inside of another", client(text, "x", false) + client(text, "y"),
       "WebSocket: frames of messages are mixed"},
      {"a long length for a short message", with_head({0x82, 0xfe, 0x00, 0x05, 1, 2, 3, 4}),
       "WebSocket: a length in more bytes than needed"},
  };
  for (const auto& row : rows) {
    for (const std::size_t piece : {1UL, 3UL, 100'000UL}) {
      EXPECT_EQ(read_in_pieces(row.bytes, piece), row.seen) << row.what << ", pieces of " << piece;
    }
  }
}

TEST(WebSocketFrame, HasTheShortestLength) {
  const struct {
    std::size_t payload;
    std::size_t head;
  } rows[] = {{0, 2}, {125, 2}, {126, 4}, {65535, 4}, {65536, 10}};
  for (const auto& row : rows) {
    EXPECT_EQ(frame(Opcode::binary, std::string(row.payload, 'x')).size(), row.payload + row.head);
  }
}

Request handshake(std::initializer_list<Header> changes) {
  Request request{.target = "/exec"};
  request.headers = {{"Connection", "keep-alive, Upgrade"},
                     {"Upgrade", "websocket"},
                     {"Sec-WebSocket-Version", "13"},
                     {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="},
                     {"Sec-WebSocket-Protocol", "v9.x, b, a"}};
  for (const Header& change : changes) request.headers.set(change.name, change.value);
  return request;
}

TEST(WebSocketHandshake, AcceptsTheFirstKnownProtocol) {
  constexpr std::string_view known[] = {"a", "b"};
  const auto accepted = accept(handshake({}), known);
  ASSERT_TRUE(accepted);
  EXPECT_EQ(accepted->protocol, "b");
  // The example of RFC 6455, 1.3.
  EXPECT_EQ(accepted->headers.get("Sec-WebSocket-Accept"), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

TEST(WebSocketHandshake, SaysWhatIsWrong) {
  constexpr std::string_view known[] = {"a"};
  const struct {
    Header change;
    const char* error;
  } rows[] = {
      {{"Connection", "close"}, "WebSocket: Connection does not name the upgrade"},
      {{"Sec-WebSocket-Version", "8"}, "WebSocket: the version is not 13"},
      {{"Sec-WebSocket-Key", "c2hvcnQ="}, "WebSocket: Sec-WebSocket-Key is not 16 bytes"},
      {{"Sec-WebSocket-Key", "***"}, "WebSocket: Sec-WebSocket-Key is not 16 bytes"},
      {{"Sec-WebSocket-Protocol", "x"}, "WebSocket: none of the protocols is known: \"x\""},
  };
  for (const auto& row : rows) {
    const auto refused = accept(handshake({row.change}), known);
    ASSERT_FALSE(refused) << row.error;
    EXPECT_EQ(refused.error().what, row.error);
  }
  Request post = handshake({});
  post.method = Method::post;
  EXPECT_EQ(accept(post, known).error().what, "WebSocket: the method is not GET");
}

}  // namespace
}  // namespace holdfast::http::websocket
