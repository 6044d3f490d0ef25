// The envelope in which Kubernetes sends every object in protobuf: "k8s\0" and a runtime.Unknown,
// which says what is inside. Items of a list come without.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "platform/result.h"

namespace holdfast::sync {

inline constexpr std::string_view protobuf_magic("k8s\0", 4);
inline constexpr std::string_view protobuf_type = "application/vnd.kubernetes.protobuf";

// Whether these are the bytes of an object in its envelope. JSON never is, and neither is an
// object without envelope.
[[nodiscard]] inline bool is_protobuf(std::string_view bytes) {
  return bytes.starts_with(protobuf_magic);
}

// Whether a Content-Type says so, of objects or of a watch stream.
[[nodiscard]] inline bool is_protobuf_type(std::string_view content_type) {
  return content_type.starts_with(protobuf_type);
}

// Borrowed from the bytes it was read from.
struct Envelope {
  std::string_view api_version;
  std::string_view kind;
  std::string_view raw;        // the object
  std::size_t raw_offset = 0;  // where it begins
};

// Errors: invalid (no envelope, broken, or without an object).
[[nodiscard]] Result<Envelope> open_envelope(std::string_view bytes);

[[nodiscard]] std::string enveloped(std::string_view api_version, std::string_view kind,
                                    std::string_view raw);

}  // namespace holdfast::sync
