// The two encodings of Kubernetes objects, and their names and content types.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::sync::wire {

enum class Encoding : std::uint8_t { json, protobuf };

[[nodiscard]] std::string_view to_string(Encoding encoding);  // "json"
[[nodiscard]] std::optional<Encoding> parse_encoding(std::string_view text);

// The Content-Type of an object or List, and of a watch stream.
[[nodiscard]] std::string_view content_type(Encoding encoding);
[[nodiscard]] std::string_view watch_content_type(Encoding encoding);

// The kind and encoding of the objects in a scope, as its list had them.
struct ScopeKind {
  std::string kind;         // of one object: "Pod"
  std::string api_version;  // "v1"
  Encoding encoding = Encoding::json;

  bool operator==(const ScopeKind&) const = default;
};

}  // namespace holdfast::sync::wire
