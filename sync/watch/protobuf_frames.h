// The protobuf watch stream: frames of a 4-byte big-endian length and a WatchEvent; see
// sync/watch/frames.h for JSON.

#pragma once

#include "sync/watch/frames.h"

namespace holdfast::sync {

// Cuts the stream into frames as the bytes come; a chunk may end anywhere.
class ProtobufFrames {
 public:
  explicit ProtobufFrames(const FrameLimits& limits = {}) : limits_(limits) {}

  // The frames that these bytes complete, in order, without their lengths.
  // Errors: exhausted (a frame of more than the limit; said before any of it is kept). The stream
  // is of no use after that: every later call fails, too, with corrupt.
  [[nodiscard]] Result<std::vector<std::string>> feed(std::string_view bytes);

  // Whether nothing is held of an unfinished frame: the stream may end here.
  [[nodiscard]] bool idle() const { return head_.empty() && !in_frame_; }
  // Bytes of the unfinished frame.
  [[nodiscard]] std::size_t held() const { return frame_.size(); }

 private:
  FrameLimits limits_;
  std::string head_;   // of the length, unfinished
  std::string frame_;  // unfinished
  std::size_t length_ = 0;
  bool in_frame_ = false;
  bool broken_ = false;
};

// Reads a WatchEvent. Its object is in an envelope.
// Errors: corrupt (broken, an unknown type, no object, an object without resourceVersion).
[[nodiscard]] Result<WatchEvent> decode_protobuf_event(std::string_view frame);

// The frame with its length, as an API server writes it. `object` is in its envelope.
[[nodiscard]] std::string encode_protobuf_event(WatchEvent::Type type, std::string_view object);

}  // namespace holdfast::sync
