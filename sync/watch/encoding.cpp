#include "sync/watch/encoding.h"

#include "platform/text.h"
#include "sync/protobuf/envelope.h"

namespace holdfast::sync {
namespace {

constexpr std::string_view json_type = "application/json";

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
    const std::string_view type = trim(part);
    const std::string_view plain = trim(type.substr(0, type.find(';')));
    if (type.find("as=") != std::string_view::npos) continue;
    if (plain == json_type || plain == "*/*" || plain == "application/*") return Encoding::json;
    if (plain == protobuf_type) return Encoding::protobuf;
  }
  return std::nullopt;
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
