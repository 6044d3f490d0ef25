// Splits a protobuf watch stream into frames and decodes the events in them. A frame is a 4-byte
// big-endian length and a WatchEvent. See sync/wire/frames.h for JSON.

#pragma once

#include "sync/wire/frames.h"

namespace holdfast::sync::wire {

// Splits the stream into frames as the bytes arrive; a chunk may end anywhere.
class ProtobufFrames {
 public:
  explicit ProtobufFrames(const FrameLimits& limits = {}) : limits_(limits) {}

  // Returns the frames that these bytes complete, in order, without their lengths. Errors:
  // exhausted (a frame over the limit, reported before any of it is kept). After an error the
  // stream is unusable: every later call fails with corrupt.
  [[nodiscard]] Result<std::vector<std::string>> feed(std::string_view bytes);

  // Whether no part of an unfinished frame is held, so that the stream may end here.
  [[nodiscard]] bool idle() const { return head_.empty() && !in_frame_; }
  // The number of bytes held of the unfinished frame.
  [[nodiscard]] std::size_t held() const { return frame_.size(); }

 private:
  FrameLimits limits_;
  std::string head_;   // of the length; incomplete
  std::string frame_;  // incomplete
  std::size_t length_ = 0;
  bool in_frame_ = false;
  bool broken_ = false;
};

// Decodes a WatchEvent. Its object is in a protobuf envelope. Errors: corrupt (broken, an unknown
// type, no object, or an object without resourceVersion).
[[nodiscard]] Result<WatchEvent> decode_protobuf_event(std::string_view frame);

// The event as a frame with its length, as an API server writes it. `object` is in its envelope.
[[nodiscard]] std::string encode_protobuf_event(WatchEvent::Type type, std::string_view object);

}  // namespace holdfast::sync::wire
