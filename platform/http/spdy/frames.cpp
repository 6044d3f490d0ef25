#include "platform/http/spdy/frames.h"

#include "platform/http/spdy/numbers.h"

namespace holdfast::http::spdy {
namespace {

constexpr std::size_t head_bytes = 8;
constexpr std::uint32_t control_bit = 0x8000'0000;
constexpr std::uint32_t id_bits = 0x7fff'ffff;
constexpr std::uint32_t version = 3;
constexpr std::uint8_t fin_flag = 1;

std::uint32_t word(std::string_view bytes, std::size_t at) {
  return read_number(bytes.substr(at, 4));
}

std::string control_frame(Kind kind, std::uint8_t flags, std::string_view body) {
  std::string frame;
  put_number(frame, control_bit | version << 16 | static_cast<std::uint32_t>(kind), 4);
  put_number(frame, flags, 1);
  put_number(frame, body.size(), 3);
  return frame.append(body);
}

std::string number_text(std::uint32_t number) {
  std::string text;
  put_number(text, number, 4);
  return text;
}

// Bytes of a control frame before its headers; what is shorter is broken.
std::size_t fixed_bytes(Kind kind) {
  switch (kind) {
    case Kind::syn_stream:
      return 10;
    case Kind::rst_stream:
    case Kind::goaway:
    case Kind::window_update:
      return 8;
    case Kind::syn_reply:
    case Kind::headers:
    case Kind::ping:
    case Kind::settings:
    case Kind::data:
      return 4;
  }
  return 0;
}

bool has_headers(Kind kind) {
  return kind == Kind::syn_stream || kind == Kind::syn_reply || kind == Kind::headers;
}

}  // namespace

Status FrameReader::add_control(std::string_view head, std::string_view body) {
  const std::uint32_t first = word(head, 0);
  const std::uint32_t type = first & 0xffff;
  if ((first & ~control_bit) >> 16 != version) return fail(Errc::corrupt, "SPDY: not version 3");
  if (type == 0 || type == 5 || type > 9) return {};
  Frame frame{.kind = static_cast<Kind>(type)};
  const std::size_t fixed = fixed_bytes(frame.kind);
  if (body.size() < fixed) return fail(Errc::corrupt, "SPDY: a frame is too short");
  frame.fin = (static_cast<std::uint8_t>(head[4]) & fin_flag) != 0;
  const bool is_ping = frame.kind == Kind::ping;
  frame.stream = is_ping ? word(body, 0) : word(body, 0) & id_bits;
  if (frame.kind == Kind::settings || frame.kind == Kind::goaway) frame.stream = 0;
  if (has_headers(frame.kind)) {
    TRY(frame.headers, headers_.decode(body.substr(fixed)));
  }
  done_.push_back(std::move(frame));
  return {};
}

Status FrameReader::put(std::string_view bytes) {
  pending_ += bytes;
  std::size_t at = 0;
  Status good;
  while (good && pending_.size() - at >= head_bytes) {
    const std::string_view head = std::string_view(pending_).substr(at, head_bytes);
    const std::size_t length = read_number(head.substr(5, 3));
    if (length > limits_.frame_bytes) {
      good = fail(Errc::exhausted,
                  "SPDY: a frame of more than " + std::to_string(limits_.frame_bytes) + " bytes");
      break;
    }
    if (pending_.size() - at - head_bytes < length) break;
    const std::string_view body = std::string_view(pending_).substr(at + head_bytes, length);
    if ((word(head, 0) & control_bit) != 0) {
      good = add_control(head, body);
    } else {
      done_.push_back({.kind = Kind::data,
                       .stream = word(head, 0),
                       .fin = (static_cast<std::uint8_t>(head[4]) & fin_flag) != 0,
                       .data = std::string(body)});
    }
    at += head_bytes + length;
  }
  pending_.erase(0, at);
  return good;
}

std::optional<Frame> FrameReader::take() {
  if (done_.empty()) return std::nullopt;
  Frame frame = std::move(done_.front());
  done_.pop_front();
  return frame;
}

std::string data_frame(std::uint32_t stream, std::string_view data, bool fin) {
  std::string frame;
  frame.reserve(head_bytes + data.size());
  put_number(frame, stream & id_bits, 4);
  put_number(frame, fin ? fin_flag : 0, 1);
  put_number(frame, data.size(), 3);
  return frame.append(data);
}

std::string ping_frame(std::uint32_t number) {
  return control_frame(Kind::ping, 0, number_text(number));
}

std::string rst_frame(std::uint32_t stream, std::uint32_t status) {
  return control_frame(Kind::rst_stream, 0, number_text(stream) + number_text(status));
}

std::string syn_reply_frame(std::uint32_t stream, const Headers& headers, HeaderEncoder& encoder) {
  return control_frame(Kind::syn_reply, 0, number_text(stream) + encoder.encode(headers));
}

std::string syn_stream_frame(std::uint32_t stream, const Headers& headers, bool fin,
                             HeaderEncoder& encoder) {
  // No associated stream, the highest priority, no slot.
  const std::string body =
      number_text(stream) + number_text(0) + std::string(2, '\0') + encoder.encode(headers);
  return control_frame(Kind::syn_stream, fin ? fin_flag : 0, body);
}

}  // namespace holdfast::http::spdy
