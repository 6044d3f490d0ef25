// The Date header: "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110, IMF-fixdate).

#pragma once

#include <string>
#include <string_view>

#include "platform/result.h"
#include "platform/time.h"

namespace holdfast::http {

[[nodiscard]] std::string format_date(WallTime time);

// Parses a Date header. The obsolete formats are not accepted. Errors: invalid, quoting the text.
[[nodiscard]] Result<WallTime> parse_date(std::string_view text);

}  // namespace holdfast::http
