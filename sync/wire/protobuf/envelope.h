// The envelope of every Kubernetes object in protobuf: "k8s\0" and a runtime.Unknown, which names
// the kind. Items of a list have no envelope.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "platform/result.h"

namespace holdfast::sync::wire {

inline constexpr std::string_view protobuf_magic("k8s\0", 4);
inline constexpr std::string_view protobuf_type = "application/vnd.kubernetes.protobuf";

// Whether these are the bytes of an object in its envelope. This is never true of JSON or of an
// object without envelope.
[[nodiscard]] inline bool is_protobuf(std::string_view bytes) {
  return bytes.starts_with(protobuf_magic);
}

// Whether a Content-Type means protobuf, for objects or for a watch stream.
[[nodiscard]] inline bool is_protobuf_type(std::string_view content_type) {
  return content_type.starts_with(protobuf_type);
}

// The content of an envelope, borrowed from its bytes.
struct Envelope {
  std::string_view api_version;
  std::string_view kind;
  std::string_view raw;        // the object
  std::size_t raw_offset = 0;  // the offset of `raw`
};

// Errors: invalid (no envelope, broken, or without an object).
[[nodiscard]] Result<Envelope> open_envelope(std::string_view bytes);

[[nodiscard]] std::string enveloped(std::string_view api_version, std::string_view kind,
                                    std::string_view raw);
// The part of an envelope before an object of `raw_size` bytes, and the part after it: an empty
// content encoding and type, as kube-apiserver writes them.
[[nodiscard]] std::string envelope_prefix(std::string_view api_version, std::string_view kind,
                                          std::size_t raw_size);
inline constexpr std::string_view envelope_suffix("\x1a\0\x22\0", 4);

}  // namespace holdfast::sync::wire
