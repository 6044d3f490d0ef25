#include "sync/objects/version.h"

#include "platform/text.h"

namespace holdfast::sync::objects {

std::optional<Version> parse_version(std::string_view text) {
  if (text.empty() || !is_digit(text.front())) return std::nullopt;
  return parse_int<Version>(text);
}

bool is_local_version(std::string_view text) {
  const auto version = parse_version(text);
  return version && is_local(*version);
}

}  // namespace holdfast::sync::objects
