// Parses and serializes JSON: Boost.JSON's value with our limits, errors and output format.
//
// The output is byte for byte that of the API server (Go's encoding/json): no spaces; <, > and &
// escaped; floats in the shortest form that reads back the same. Pure functions; any thread.

#pragma once

#include <boost/json/value.hpp>
#include <cstddef>
#include <string>
#include <string_view>

#include "platform/result.h"
#include "sync/model/json_alias.h"

namespace holdfast::sync::wire {

struct JsonLimits {
  std::size_t bytes = 16UL << 20;
  std::size_t depth = 128;
  // All values, including those in arrays and objects. A value takes up to 100 bytes of memory, and
  // as few as two bytes of text. An object of 1.5 MiB, the maximum in etcd, has at most about
  // 170,000 (managed fields: nine bytes each).
  std::size_t values = 200'000;
};

// Limits for documents with many objects that a trusted program has written.
inline constexpr JsonLimits trusted_json = {.bytes = 64UL << 20, .values = 8'000'000};

// Parses one JSON value, after which only white space may follow. Of duplicate keys the last one
// counts. `storage` may be a monotonic resource for short-lived values; it must outlive the value.
// Errors: invalid with the offset ("JSON at byte 17: syntax error"), exhausted (over a limit).
[[nodiscard]] Result<json::value> parse_json(std::string_view text, const JsonLimits& limits = {},
                                             json::storage_ptr storage = {});

[[nodiscard]] std::string serialize(const json::value& value);
[[nodiscard]] std::string serialize(const json::object& value);
// Appends the serialized value to `out`.
void serialize_to(std::string& out, const json::value& value);
// Appends `text` as a JSON string with quotes.
void serialize_text_to(std::string& out, std::string_view text);

}  // namespace holdfast::sync::wire
