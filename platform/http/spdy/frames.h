// Frames of SPDY/3.1, which kubectl uses to forward ports and older clients to run commands. No
// I/O.
//
// There is no flow control: Kubernetes' implementation knows none, and relies on the connection's.

#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "platform/http/spdy/header_codec.h"

namespace holdfast::http::spdy {

enum class Kind : std::uint8_t {
  data = 0,
  syn_stream = 1,
  syn_reply = 2,
  rst_stream = 3,
  settings = 4,
  ping = 6,
  goaway = 7,
  headers = 8,
  window_update = 9,
};

// The statuses of RST_STREAM that we send.
inline constexpr std::uint32_t protocol_error = 1;
inline constexpr std::uint32_t refused_stream = 3;

struct Frame {
  Kind kind = Kind::data;
  std::uint32_t stream = 0;  // of a ping its number; 0 for frames about the whole connection
  bool fin = false;          // the sender's side of the stream ends
  Headers headers = {};      // of syn_stream, syn_reply and headers
  std::string data = {};     // of data

  bool operator==(const Frame&) const = default;
};

struct FrameLimits {
  std::size_t frame_bytes = 128UL * 1024;
  std::size_t header_bytes = 16UL * 1024;  // decompressed, of one frame
};

class FrameReader {
 public:
  explicit FrameReader(const FrameLimits& limits = {})
      : limits_(limits), headers_(limits.header_bytes) {}

  // Errors: corrupt (not SPDY/3.1), exhausted (over a limit). After an error, put() must not be
  // called again.
  [[nodiscard]] Status put(std::string_view bytes);
  // The next complete frame, in order. Frames of unknown kinds are skipped.
  [[nodiscard]] std::optional<Frame> take();

 private:
  [[nodiscard]] Status add_control(std::string_view head, std::string_view body);

  FrameLimits limits_;
  HeaderDecoder headers_;
  std::string pending_;
  std::deque<Frame> done_;
};

[[nodiscard]] std::string data_frame(std::uint32_t stream, std::string_view data, bool fin);
[[nodiscard]] std::string ping_frame(std::uint32_t number);
[[nodiscard]] std::string rst_frame(std::uint32_t stream, std::uint32_t status);
[[nodiscard]] std::string syn_reply_frame(std::uint32_t stream, const Headers& headers,
                                          HeaderEncoder& encoder);
// What a client sends, for tests.
[[nodiscard]] std::string syn_stream_frame(std::uint32_t stream, const Headers& headers, bool fin,
                                           HeaderEncoder& encoder);

}  // namespace holdfast::http::spdy
