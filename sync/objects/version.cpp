#include "sync/objects/version.h"

#include <algorithm>

#include "platform/text.h"
#include "sync/wire/quote.h"

namespace holdfast::sync::objects {

std::optional<Version> parse_version(std::string_view text) {
  if (text.empty() || !is_digit(text.front())) return std::nullopt;
  return parse_int<Version>(text);
}

Result<Version> parse_asked_version(std::string_view text) {
  if (text.empty()) return 0;
  if (const auto version = parse_version(text)) return *version;
  const bool is_number = std::all_of(text.begin(), text.end(), is_digit);
  return fail(Errc::invalid, "resourceVersion: Invalid value: " + wire::quoted(text) +
                                 ": strconv.ParseUint: parsing " + wire::quoted(text) + ": " +
                                 (is_number ? "value out of range" : "invalid syntax"));
}

bool is_local_version(std::string_view text) {
  const auto version = parse_version(text);
  return version && is_local(*version);
}

}  // namespace holdfast::sync::objects
