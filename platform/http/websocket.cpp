#include "platform/http/websocket.h"

#include <algorithm>
#include <vector>

#include "platform/text.h"
#include "platform/tls/digest.h"

namespace holdfast::http::websocket {
namespace {

constexpr std::uint8_t final_bit = 0x80;
constexpr std::uint8_t reserved_bits = 0x70;
constexpr std::uint8_t opcode_bits = 0x0f;
constexpr std::uint8_t mask_bit = 0x80;
constexpr std::uint8_t length_bits = 0x7f;
constexpr std::uint64_t control_bytes_max = 125;
constexpr std::uint8_t length_16 = 126;
constexpr std::uint8_t length_64 = 127;
constexpr std::size_t mask_bytes = 4;
constexpr std::string_view key_suffix = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

std::uint8_t byte_at(std::string_view bytes, std::size_t at) {
  return static_cast<std::uint8_t>(bytes[at]);
}

std::uint64_t big_endian(std::string_view bytes) {
  std::uint64_t number = 0;
  for (const char c : bytes) number = number << 8 | static_cast<std::uint8_t>(c);
  return number;
}

void put_big_endian(std::string& out, std::uint64_t number, int bytes) {
  for (int i = bytes - 1; i >= 0; --i) out += static_cast<char>(number >> (8 * i) & 0xff);
}

bool is_known(std::uint8_t opcode) { return opcode <= 2 || (opcode >= 8 && opcode <= 10); }

bool is_control(Opcode opcode) { return static_cast<std::uint8_t>(opcode) >= 8; }

tl::unexpected<Error> broken(std::string what) {
  return fail(Errc::invalid, "WebSocket: " + std::move(what));
}

bool has_token(std::string_view list, std::string_view token) {
  const auto parts = split(list, ',');
  return std::any_of(parts.begin(), parts.end(), [token](std::string_view part) {
    return equals_ignoring_case(trim(part), token);
  });
}

}  // namespace

// Nothing if more bytes are needed.
Result<std::optional<Reader::Head>> Reader::parse_head() const {
  if (pending_.size() < 2) return std::nullopt;
  const std::uint8_t first = byte_at(pending_, 0);
  const std::uint8_t second = byte_at(pending_, 1);
  if ((first & reserved_bits) != 0) return broken("a reserved bit is set");
  if (!is_known(first & opcode_bits)) return broken("unknown opcode");
  if ((second & mask_bit) == 0) return broken("a frame of a client without a mask");
  Head head{.final = (first & final_bit) != 0,
            .opcode = static_cast<Opcode>(first & opcode_bits),
            .length = static_cast<std::uint64_t>(second & length_bits)};
  const std::size_t more = head.length == length_16 ? 2 : head.length == length_64 ? 8 : 0;
  head.size = 2 + more + mask_bytes;
  if (pending_.size() < head.size) return std::nullopt;
  const std::string_view bytes = pending_;
  if (more > 0) {
    const std::uint64_t length = big_endian(bytes.substr(2, more));
    if (length < (more == 2 ? 126U : 65536U)) return broken("a length in more bytes than needed");
    head.length = length;
  }
  head.mask = bytes.substr(2 + more, mask_bytes);
  return head;
}

Status Reader::check(const Head& head) const {
  if (is_control(head.opcode)) {
    if (!head.final || head.length > control_bytes_max) {
      return broken("a control frame that is large or in parts");
    }
    return {};
  }
  const bool continues = head.opcode == Opcode::continuation;
  if (continues != open_.has_value()) return broken("frames of messages are mixed");
  const std::size_t before = open_ ? open_->payload.size() : 0;
  if (head.length > message_bytes_ - before) {
    return fail(Errc::exhausted,
                "WebSocket: a message of more than " + std::to_string(message_bytes_) + " bytes");
  }
  return {};
}

void Reader::add(const Head& head) {
  const auto length = static_cast<std::size_t>(head.length);
  std::string payload = pending_.substr(head.size, length);
  for (std::size_t i = 0; i < length; ++i) {
    payload[i] = static_cast<char>(payload[i] ^ head.mask[i % mask_bytes]);
  }
  if (is_control(head.opcode)) return done_.push_back({head.opcode, std::move(payload)});
  if (open_) {
    open_->payload += payload;
  } else {
    open_ = Message{head.opcode, std::move(payload)};
  }
  if (!head.final) return;
  done_.push_back(*std::move(open_));
  open_.reset();
}

Status Reader::put(std::string_view bytes) {
  pending_ += bytes;
  for (;;) {
    TRY(const std::optional<Head> head, parse_head());
    if (!head) return {};
    if (auto good = check(*head); !good) return good;
    if (pending_.size() - head->size < head->length) return {};
    add(*head);
    pending_.erase(0, head->size + static_cast<std::size_t>(head->length));
  }
}

std::optional<Message> Reader::take() {
  if (done_.empty()) return std::nullopt;
  Message message = std::move(done_.front());
  done_.pop_front();
  return message;
}

std::string frame(Opcode opcode, std::string_view payload, std::string_view mask) {
  std::string out;
  out.reserve(payload.size() + 14);
  out += static_cast<char>(final_bit | static_cast<std::uint8_t>(opcode));
  const std::uint8_t masked = mask.empty() ? 0 : mask_bit;
  if (payload.size() < length_16) {
    out += static_cast<char>(masked | payload.size());
  } else if (payload.size() <= 0xffff) {
    out += static_cast<char>(masked | length_16);
    put_big_endian(out, payload.size(), 2);
  } else {
    out += static_cast<char>(masked | length_64);
    put_big_endian(out, payload.size(), 8);
  }
  out += mask;
  if (mask.empty()) return out += payload;
  for (std::size_t i = 0; i < payload.size(); ++i) {
    out += static_cast<char>(payload[i] ^ mask[i % mask.size()]);
  }
  return out;
}

std::string close_payload(std::uint16_t code, std::string_view reason) {
  std::string payload;
  put_big_endian(payload, code, 2);
  return payload.append(reason.substr(0, control_bytes_max - 2));
}

bool asks_for_websocket(const Headers& headers) {
  return has_token(headers.get("Upgrade"), "websocket");
}

Result<Handshake> accept(const Request& request, std::span<const std::string_view> protocols) {
  if (request.method != Method::get) return broken("the method is not GET");
  if (!has_token(request.headers.get("Connection"), "upgrade")) {
    return broken("Connection does not name the upgrade");
  }
  if (request.headers.get("Sec-WebSocket-Version") != "13") return broken("the version is not 13");
  const std::string_view key = trim(request.headers.get("Sec-WebSocket-Key"));
  const auto decoded = base64_decode(key);
  if (!decoded || decoded->size() != 16) return broken("Sec-WebSocket-Key is not 16 bytes");
  Handshake made;
  for (const std::string_view part : split(request.headers.get("Sec-WebSocket-Protocol"), ',')) {
    const std::string_view offered = trim(part);
    const bool known = std::find(protocols.begin(), protocols.end(), offered) != protocols.end();
    if (known && made.protocol.empty()) made.protocol = offered;
  }
  if (made.protocol.empty()) {
    return broken("none of the protocols is known: \"" +
                  std::string(request.headers.get("Sec-WebSocket-Protocol")) + "\"");
  }
  const std::string digest = tls::sha1(std::string(key).append(key_suffix));
  made.headers = {{"Upgrade", "websocket"},
                  {"Connection", "Upgrade"},
                  {"Sec-WebSocket-Accept", base64_encode(digest)},
                  {"Sec-WebSocket-Protocol", made.protocol}};
  return made;
}

}  // namespace holdfast::http::websocket
