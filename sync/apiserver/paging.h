// Lists in pages: the token that a client brings back for the next one.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sync/apiserver/answer.h"

namespace holdfast::sync {

struct ContinueToken {
  std::int64_t revision = 0;
  std::string start;  // the first key of the next page, without the list's prefix

  bool operator==(const ContinueToken&) const = default;
};

// Base64 (URL alphabet, no padding) of JSON, as upstream has it.
[[nodiscard]] std::string encode_continue(const ContinueToken& token);
[[nodiscard]] Answer<ContinueToken> parse_continue(std::string_view text);

// A resourceVersion in a query: "" and "0" are 0. Anything but a number is refused with 500, as
// upstream does.
[[nodiscard]] Answer<std::int64_t> parse_resource_version(std::string_view text);

}  // namespace holdfast::sync
