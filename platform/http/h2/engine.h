// The HTTP/2 protocol state machine of one connection: it takes received bytes, produces bytes to
// send and reports events. It uses no socket and no clock. It wraps nghttp2, which no other file
// includes.
//
// The owner passes received bytes to receive(), sends what take_output() returns, and is told of
// the peer's headers, bodies and ends through Events, which are called only from within these two
// functions. Bytes of a body count against the stream's window until consume() returns them; this
// bounds what is buffered for a slow reader. Bytes count against the connection's own window only
// until they arrive, so that one slow reader does not block the others.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "platform/http/message.h"
#include "platform/result.h"

namespace holdfast::http::h2 {

using StreamId = std::int32_t;

// Error codes of RFC 9113, 7: why a stream or a connection ends. A peer may send others.
enum class Code : std::uint32_t {
  no_error = 0,
  protocol_error = 1,
  internal_error = 2,
  flow_control_error = 3,
  refused_stream = 7,  // the request was not processed; it may be sent again
  cancel = 8,
  enhance_your_calm = 11,
  http_1_1_required = 13,
};

// "REFUSED_STREAM"; the number for an unknown code.
[[nodiscard]] std::string to_string(Code code);

struct EngineLimits {
  std::size_t header_bytes = 32UL * 1024;      // of one block, plus 32 for each field (RFC 9113)
  std::uint32_t streams = 250;                 // that the peer may have open; Go's default
  std::uint32_t stream_window = 256UL * 1024;  // bytes of one body that are not consumed yet
  std::uint32_t window = 16UL * 1024 * 1024;   // bytes of all bodies that are on their way
  std::size_t queued_frames = 4000;            // frames that wait for a peer that does not read
};

// The headers or trailers of a request or response, including pseudo-headers such as ":status".
struct Block {
  Headers fields = {};
  bool too_long = false;  // fields over the limit were left out
};

// What the peer did. The functions must not destroy the Engine.
class Events {
 public:
  virtual ~Events() = default;
  virtual void on_settings() = 0;  // the peer's limits arrived; may be called again
  virtual void on_headers(StreamId id, Block block) = 0;
  virtual void on_data(StreamId id, std::string_view bytes) = 0;
  virtual void on_end(StreamId id) = 0;   // the peer has sent the end of this stream
  virtual void on_sent(StreamId id) = 0;  // bytes of our body were sent: unsent() has shrunk
  // The stream's last event. `code` is the reason; no_error for a normal end.
  virtual void on_closed(StreamId id, Code code) = 0;
  // The peer reset this stream, or broke the protocol on it so that the engine did; on_closed()
  // follows. Streams that reset() ended are not reported.
  virtual void on_reset(StreamId) {}
  virtual void on_goaway(Code code) = 0;  // the peer accepts no new streams
  virtual void on_pong() {}               // the peer has answered measure()
};

class Engine {
 public:
  enum class Role : std::uint8_t { client, server };

  // `events` is borrowed and must outlive the engine.
  Engine(Role role, const EngineLimits& limits, Events& events);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Processes received bytes. Errors: corrupt (not HTTP/2, or more queued frames than allowed).
  [[nodiscard]] Status receive(std::string_view bytes);
  // The bytes to send now, at most about 16 KiB; "" if there are none.
  [[nodiscard]] std::string take_output();
  // Whether nothing is left to read or write.
  [[nodiscard]] bool finished() const;
  // Whether we ended the connection because the peer broke the protocol.
  [[nodiscard]] bool peer_violated_protocol() const;

  // How many streams the peer lets us have open at a time; nothing until its settings arrive.
  [[nodiscard]] std::optional<std::uint32_t> streams_allowed() const;
  // Whether, as far as we know, the peer accepts another request on this connection.
  [[nodiscard]] bool takes_requests() const;

  // Starts a request. Errors: exhausted (no stream numbers are left, or the peer is going away).
  [[nodiscard]] Result<StreamId> request(const Headers& fields, std::string body);
  // Sends the head of a response. Unless `last`, the body follows with send(). Not for interim
  // (1xx) responses.
  void respond(StreamId id, const Headers& fields, bool last);
  // Sends a piece of a response's body. Nothing may follow the piece marked `last`.
  void send(StreamId id, std::string_view bytes, bool last);
  // Bytes of the body that are not sent yet.
  [[nodiscard]] std::size_t unsent(StreamId id) const;
  // Ends an open stream at once; on_closed() follows.
  void reset(StreamId id, Code code);
  // Returns `bytes` to the stream's window, so that the peer may send more.
  void consume(StreamId id, std::size_t bytes);
  void ping();
  // As ping(); on_pong() tells of the answer. Call it again only after that.
  void measure();
  // Changes how many bytes of all bodies may be on their way. If they are more now, the peer waits
  // until fewer are. At most 2^31 - 1.
  void set_window(std::uint32_t bytes);
  // Changes how many bytes of each body, also of one that has begun, may not be consumed yet, as
  // soon as the peer has acknowledged the settings before. At most 2^31 - 1.
  void set_stream_window(std::uint32_t bytes);
  // Accepts no new streams from now on; open ones continue.
  void goaway(Code code);
  // Ends the connection because of the peer: all frames that it sends from now on are ignored, and
  // finished() holds as soon as the peer was told `code`.
  void terminate(Code code);

  struct Inner;  // defined in engine.cpp

 private:
  std::unique_ptr<Inner> inner_;
};

}  // namespace holdfast::http::h2
