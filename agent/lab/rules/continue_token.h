// Continue tokens of paged lists, and resourceVersions in queries.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "agent/lab/rules/answer.h"

namespace holdfast::agent::lab {

// Instead of a revision: the state at the moment at which the token is used, as upstream.
inline constexpr std::int64_t current_state = -1;

struct ContinueToken {
  std::int64_t revision = 0;
  std::string start;  // the first key of the next page, without the list's prefix

  bool operator==(const ContinueToken&) const = default;
};

// Base64 (URL alphabet, no padding) of JSON, as in upstream.
[[nodiscard]] std::string encode_continue(const ContinueToken& token);
[[nodiscard]] Answer<ContinueToken> parse_continue(std::string_view text);

}  // namespace holdfast::agent::lab
