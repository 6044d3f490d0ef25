#include "sync/wire/encoding.h"

#include "sync/wire/protobuf/envelope.h"

namespace holdfast::sync::wire {
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

std::string_view content_type(Encoding encoding) {
  return encoding == Encoding::json ? json_type : protobuf_type;
}

std::string_view watch_content_type(Encoding encoding) {
  return encoding == Encoding::json ? json_type
                                    : "application/vnd.kubernetes.protobuf;stream=watch";
}

}  // namespace holdfast::sync::wire
