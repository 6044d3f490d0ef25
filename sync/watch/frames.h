// The JSON watch stream: cutting it into documents, and the events in them.
//
// An object's bytes leave here exactly as they came; nothing is parsed but the envelope.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/result.h"

namespace holdfast::sync {

struct FrameLimits {
  std::size_t document_bytes = 8UL << 20;  // of one event
  std::size_t depth = 128;                 // of brackets in it
};

// Cuts a stream of JSON objects into single ones as the bytes come. White space between them is
// skipped; a chunk may end anywhere.
class FrameSplitter {
 public:
  explicit FrameSplitter(const FrameLimits& limits = {}) : limits_(limits) {}

  // The documents that these bytes complete, in order.
  // Errors: corrupt (something that is no object), exhausted (a limit). The stream is of no use
  // after that: every later call fails, too.
  [[nodiscard]] Result<std::vector<std::string>> feed(std::string_view bytes);

  // Whether nothing is held of an unfinished document: the stream may end here.
  [[nodiscard]] bool idle() const { return document_.empty(); }
  // Bytes of the unfinished document.
  [[nodiscard]] std::size_t held() const { return document_.size(); }

 private:
  // The bytes of `bytes` that belong to the current document; `done` when it ends there.
  [[nodiscard]] std::size_t scan(std::string_view bytes, bool& done);
  [[nodiscard]] Error fail_with(Errc code, std::string what);

  FrameLimits limits_;
  std::string document_;  // unfinished
  std::size_t depth_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;
  bool broken_ = false;
};

struct WatchEvent {
  enum class Type : std::uint8_t { added, modified, deleted, bookmark, error };

  Type type;
  std::string object;            // its exact bytes; of an error: a Status
  std::string resource_version;  // of the object; "" of an error

  bool operator==(const WatchEvent&) const = default;
};

// "ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR".
[[nodiscard]] std::string_view to_string(WatchEvent::Type type);
[[nodiscard]] std::optional<WatchEvent::Type> parse_event_type(std::string_view text);

// Reads {"type":...,"object":...}.
// Errors: corrupt (broken JSON, an unknown type, no object, an object without resourceVersion).
[[nodiscard]] Result<WatchEvent> decode_event(std::string_view document);

// The document and the newline behind it, as an API server writes it.
[[nodiscard]] std::string encode_event(WatchEvent::Type type, std::string_view object);

}  // namespace holdfast::sync
