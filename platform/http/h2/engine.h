// HTTP/2 as a machine: bytes in, bytes out, and what the peer said in between. No socket, no clock;
// nghttp2 does the work, and this is the only file that knows it.
//
// The owner feeds what arrived, sends what take_output() gives, and hears of the peer's headers,
// bodies and ends through Events, from within these two calls only. Bytes of a body count against
// the stream's window until consume() gives them back: that bounds what a slow reader has to keep.
// The connection's own window never closes, so that one slow reader does not hold up the others.

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

// Why a stream or a connection ends: RFC 9113, 7. A peer may send others.
enum class Code : std::uint32_t {
  no_error = 0,
  protocol_error = 1,
  internal_error = 2,
  flow_control_error = 3,
  refused_stream = 7,  // nothing was done about it; it may be sent again
  cancel = 8,
  enhance_your_calm = 11,
  http_1_1_required = 13,
};

// "REFUSED_STREAM"; the number for one that nobody knows.
[[nodiscard]] std::string to_string(Code code);

struct EngineLimits {
  std::size_t header_bytes = 32UL * 1024;      // of one block, each field with 32 more (RFC 9113)
  std::uint32_t streams = 250;                 // that the peer may have open; Go's own default
  std::uint32_t stream_window = 256UL * 1024;  // bytes of one body that were not consumed
  std::size_t queued_frames = 4000;            // that wait for a peer who asks and does not read
  // Streams that the peer may reset before the connection is cut: rapid resets are an attack
  // (CVE-2023-44487).
  std::uint64_t resets_burst = 200;
  std::uint64_t resets_per_second = 33;
};

// The headers of a request or answer, or trailers. ":status" and its like are among the fields.
struct Block {
  Headers fields = {};
  bool too_long = false;  // fields past the limit were left out
};

class Events {
 public:
  virtual ~Events() = default;
  virtual void on_settings() = 0;  // the peer told its limits; may come again
  virtual void on_headers(StreamId id, Block block) = 0;
  virtual void on_data(StreamId id, std::string_view bytes) = 0;
  virtual void on_end(StreamId id) = 0;   // the peer has sent all of this stream
  virtual void on_sent(StreamId id) = 0;  // some of our bytes left: unsent() has shrunk
  // Nothing follows about this stream. `code` is what ended it; no_error for a good end.
  virtual void on_closed(StreamId id, Code code) = 0;
  virtual void on_goaway(Code code) = 0;  // the peer takes no new streams
};

class Engine {
 public:
  enum class Role : std::uint8_t { client, server };

  // `events` is borrowed.
  Engine(Role role, const EngineLimits& limits, Events& events);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Takes what has arrived. Errors: corrupt (not HTTP/2, or a flood).
  [[nodiscard]] Status receive(std::string_view bytes);
  // What is to be sent now, at most about 16 KiB; "" when there is nothing.
  [[nodiscard]] std::string take_output();
  // Nothing is to be read or written any more.
  [[nodiscard]] bool finished() const;
  // We ended the connection, because the peer broke the protocol.
  [[nodiscard]] bool peer_was_wrong() const;

  // How many streams the peer lets us have open at a time; nothing before it has said so.
  [[nodiscard]] std::optional<std::uint32_t> streams_allowed() const;
  // Whether the peer, as far as is known, takes another request on this connection.
  [[nodiscard]] bool takes_requests() const;

  // Begins a request. Errors: exhausted (no stream numbers are left, or the peer is going away).
  [[nodiscard]] Result<StreamId> request(const Headers& fields, std::string body);
  // Answers; the body follows with send(), if not `last`. An interim answer is not for this.
  void respond(StreamId id, const Headers& fields, bool last);
  // More of a body after respond(). Nothing may follow the `last`.
  void send(StreamId id, std::string_view bytes, bool last);
  [[nodiscard]] std::size_t unsent(StreamId id) const;
  // Ends a stream, which must not have closed, at once; on_closed() follows.
  void reset(StreamId id, Code code);
  void consume(StreamId id, std::size_t bytes);
  void ping();
  // Takes no new streams from now on; those that are open go on.
  void goaway(Code code);

  struct Inner;  // defined in engine.cpp

 private:
  std::unique_ptr<Inner> inner_;
};

}  // namespace holdfast::http::h2
