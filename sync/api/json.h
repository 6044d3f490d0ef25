// JSON in and out: Boost.JSON's value behind our limits, errors and printing.
//
// Printing is byte for byte as the API server prints (Go's encoding/json): no spaces, <, > and &
// escaped, floats in the shortest form that reads back the same. Only codecs include this header.

#pragma once

#include <boost/json/value.hpp>
#include <cstddef>
#include <string>
#include <string_view>

#include "platform/result.h"

namespace holdfast::sync {

namespace json = boost::json;

struct JsonLimits {
  std::size_t bytes = 16UL << 20;
  std::size_t depth = 128;
  // Values in it, with those in arrays and objects. A value takes up to 100 bytes of memory, and as
  // few as two of text. An object of the 1.5 MiB that etcd takes has at most about 170,000 (managed
  // fields: nine bytes each).
  std::size_t values = 200'000;
};

// For documents of many objects that a trusted program has made.
inline constexpr JsonLimits trusted_json = {.bytes = 64UL << 20, .values = 8'000'000};

// Reads one JSON value and nothing after it but white space. Of duplicate keys the last counts.
// `storage` may be a monotonic resource for values that die soon; it must outlive the value.
// Errors: invalid, with the offset ("JSON at byte 17: syntax error"); exhausted beyond a limit.
[[nodiscard]] Result<json::value> parse_json(std::string_view text, const JsonLimits& limits = {},
                                             json::storage_ptr storage = {});

[[nodiscard]] std::string serialize(const json::value& value);
[[nodiscard]] std::string serialize(const json::object& value);
// The same, appended to `out`.
void serialize_to(std::string& out, const json::value& value);
// A JSON string with its quotes.
void serialize_text_to(std::string& out, std::string_view text);

}  // namespace holdfast::sync
