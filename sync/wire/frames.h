// Splits a JSON watch stream into documents and decodes the events in them.
//
// An object leaves byte by byte as it arrived: only the envelope and the resourceVersion are
// parsed.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/result.h"

namespace holdfast::sync::wire {

struct FrameLimits {
  std::size_t document_bytes = 8UL << 20;  // of one event
  std::size_t depth = 128;                 // nesting of brackets in an event
};

// Splits a stream of JSON objects into single documents as the bytes arrive. White space between
// documents is skipped; a chunk may end anywhere.
class FrameSplitter {
 public:
  explicit FrameSplitter(const FrameLimits& limits = {}) : limits_(limits) {}

  // Returns the documents that these bytes complete, in order. Errors: corrupt (something other
  // than an object), exhausted (a limit). After an error the stream is unusable: every later call
  // fails with corrupt.
  [[nodiscard]] Result<std::vector<std::string>> feed(std::string_view bytes);

  // Whether no part of an unfinished document is held, so that the stream may end here.
  [[nodiscard]] bool idle() const { return document_.empty(); }
  // The number of bytes held of the unfinished document.
  [[nodiscard]] std::size_t held() const { return document_.size(); }

 private:
  // How many of `bytes` belong to the current document; sets `done` when it ends there.
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
  std::string object;            // its exact bytes; for an error, a Status
  std::string resource_version;  // of the object; "" for an error

  bool operator==(const WatchEvent&) const = default;
};

// "ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR".
[[nodiscard]] std::string_view to_string(WatchEvent::Type type);
[[nodiscard]] std::optional<WatchEvent::Type> parse_event_type(std::string_view text);

// Decodes {"type":...,"object":...}. Errors: corrupt (broken JSON, an unknown type, no object, or
// an object without resourceVersion).
[[nodiscard]] Result<WatchEvent> decode_event(std::string_view document);

// The document with a newline at its end, as an API server writes it.
[[nodiscard]] std::string encode_event(WatchEvent::Type type, std::string_view object);

}  // namespace holdfast::sync::wire
