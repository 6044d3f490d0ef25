// The kubelet's end of `kubectl exec -- cat` and `attach`, over WebSocket with the protocol
// v5.channel.k8s.io: the first byte of each message is its channel.

#pragma once

#include <openssl/sha.h>

#include <cstdint>
#include <string>

#include "platform/http/message.h"
#include "platform/text.h"
#include "test/support/echo.h"

namespace holdfast::test {

class WebsocketEcho final : public Echo {
 public:
  using Echo::Echo;

  // The 101 response that switches the connection to `echo`.
  static http::Response upgraded(const http::Request& request, std::shared_ptr<Echo> echo) {
    const std::string keyed = std::string(request.headers.get("sec-websocket-key")) +
                              "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";  // RFC 6455, 1.3
    std::array<unsigned char, SHA_DIGEST_LENGTH> digest{};
    SHA1(reinterpret_cast<const unsigned char*>(keyed.data()), keyed.size(), digest.data());
    const std::string bytes(digest.begin(), digest.end());
    http::Response response{.status = 101, .tunnel = std::move(echo)};
    response.headers.add("Connection", "Upgrade");
    response.headers.add("Upgrade", "websocket");
    response.headers.add("Sec-WebSocket-Accept", base64_encode(bytes));
    response.headers.add("Sec-WebSocket-Protocol", "v5.channel.k8s.io");
    return response;
  }

 private:
  enum Opcode : std::uint8_t { binary = 2, closing = 8, ping = 9, pong = 10 };

  void hear(std::string_view bytes) override {
    pending_ += bytes;
    while (take_frame()) continue;
  }

  // Handles one frame if it has arrived completely; false if not.
  bool take_frame() {
    const auto at = [this](std::size_t i) { return static_cast<unsigned char>(pending_[i]); };
    if (pending_.size() < 6) return false;
    std::size_t length = at(1) & 0x7fU;
    std::size_t head = 2;
    const std::size_t more = length == 126 ? 2 : length == 127 ? 8 : 0;
    if (pending_.size() < head + more + 4) return false;
    if (more > 0) length = 0;
    for (std::size_t i = 0; i < more; ++i) length = length << 8U | at(head++);
    if (pending_.size() < head + 4 + length) return false;
    std::string payload = pending_.substr(head + 4, length);  // clients mask their payload
    for (std::size_t i = 0; i < length; ++i) {
      payload[i] = static_cast<char>(payload[i] ^ pending_[head + i % 4]);
    }
    const auto opcode = static_cast<Opcode>(at(0) & 0x0fU);
    pending_.erase(0, head + 4 + length);
    take_message(opcode, payload);
    return true;
  }

  void take_message(Opcode opcode, const std::string& payload) {
    if (opcode == ping) return send(pong, payload);
    if (opcode == closing) return send(closing, payload);
    if (opcode != binary || payload.empty()) return;
    if (payload[0] == 0) send(binary, "\x01" + payload.substr(1));
    const bool stdin_ended = payload == std::string("\xff\x00", 2);
    if (!stdin_ended) return;
    send(binary, "\x03{\"metadata\":{},\"status\":\"Success\"}");
    send(closing, "\x03\xe8");
    end();
  }

  void send(Opcode opcode, const std::string& payload) {
    std::string frame(1, static_cast<char>(0x80U | opcode));
    if (payload.size() < 126) {
      frame += static_cast<char>(payload.size());
    } else {
      frame += static_cast<char>(126);
      frame += static_cast<char>(payload.size() >> 8U);
      frame += static_cast<char>(payload.size() & 0xffU);
    }
    say(frame + payload);
  }

  std::string pending_;
};

}  // namespace holdfast::test
