#include "sync/watch/encoding.h"

#include <algorithm>

#include "platform/text.h"
#include "sync/protobuf/envelope.h"

namespace holdfast::sync {
namespace {

constexpr std::string_view json_type = "application/json";

// What one part of an Accept header asks for, if that is whole objects in an encoding of ours.
std::optional<Encoding> encoding_in(std::string_view part) {
  const std::string_view type = trim(part);
  const std::string_view plain = trim(type.substr(0, type.find(';')));
  if (type.find("as=") != std::string_view::npos) return std::nullopt;
  if (plain == json_type || plain == "*/*" || plain == "application/*") return Encoding::json;
  if (plain == protobuf_type) return Encoding::protobuf;
  return std::nullopt;
}

}  // namespace

std::string_view to_string(Encoding encoding) {
  return encoding == Encoding::json ? "json" : "protobuf";
}

std::optional<Encoding> parse_encoding(std::string_view text) {
  if (text == "json") return Encoding::json;
  if (text == "protobuf") return Encoding::protobuf;
  return std::nullopt;
}

std::optional<Encoding> wanted_encoding(std::string_view accept) {
  if (trim(accept).empty()) return Encoding::json;
  for (const std::string_view part : split(accept, ',')) {
    if (const auto encoding = encoding_in(part)) return encoding;
  }
  return std::nullopt;
}

bool accepts(std::string_view accept, Encoding encoding) {
  if (trim(accept).empty()) return true;
  const auto parts = split(accept, ',');
  return std::any_of(parts.begin(), parts.end(),
                     [encoding](std::string_view part) { return encoding_in(part) == encoding; });
}

bool prefers_transformed(std::string_view accept) {
  return split(accept, ',').front().find("as=") != std::string_view::npos;
}

std::string_view content_type(Encoding encoding) {
  return encoding == Encoding::json ? json_type : protobuf_type;
}

std::string_view watch_content_type(Encoding encoding) {
  return encoding == Encoding::json ? json_type
                                    : "application/vnd.kubernetes.protobuf;stream=watch";
}

}  // namespace holdfast::sync
