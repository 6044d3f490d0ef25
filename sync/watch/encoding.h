// The two encodings of objects, and which of them a client is answered in.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace holdfast::sync {

enum class Encoding : std::uint8_t { json, protobuf };

[[nodiscard]] std::string_view to_string(Encoding encoding);  // "json"
[[nodiscard]] std::optional<Encoding> parse_encoding(std::string_view text);

// The encoding that a client with this Accept header likes best of those we have, for whole
// objects. Nothing when he takes none of them.
[[nodiscard]] std::optional<Encoding> wanted_encoding(std::string_view accept);
// Whether a client with this Accept header takes whole objects in that encoding at all.
[[nodiscard]] bool accepts(std::string_view accept, Encoding encoding);
// Whether he would rather have what only an API server can make: a table, or metadata alone.
[[nodiscard]] bool prefers_transformed(std::string_view accept);

// The Content-Type of an object or a List; of a watch.
[[nodiscard]] std::string_view content_type(Encoding encoding);
[[nodiscard]] std::string_view watch_content_type(Encoding encoding);

// What kind of thing a scope holds, from its list.
struct ScopeKind {
  std::string kind;         // of one object: "Pod"
  std::string api_version;  // "v1"
  Encoding encoding = Encoding::json;

  bool operator==(const ScopeKind&) const = default;
};

}  // namespace holdfast::sync
