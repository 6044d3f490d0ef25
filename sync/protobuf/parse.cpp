#include "sync/protobuf/parse.h"

#include <google/protobuf/message_lite.h>

#include <limits>
#include <memory>
#include <string>

#include "sync/protobuf/cursor.h"
#include "sync/protobuf/envelope.h"

namespace holdfast::sync::proto {
namespace {

using google::protobuf::MessageLite;

bool parses(MessageLite& message, std::string_view bytes) {
  return message.ParsePartialFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

// The parser says only that it failed: find the field of the outermost message in which.
Error where_it_broke(const MessageLite& message, std::string_view bytes) {
  WireCursor in(bytes);
  while (in.next()) {
    const std::unique_ptr<MessageLite> alone(message.New());
    if (parses(*alone, bytes.substr(in.offset(), in.end_offset() - in.offset()))) continue;
    const std::string number = std::to_string(in.number());
    return {Errc::invalid, "protobuf at byte " + std::to_string(in.offset()) + ": field " + number +
                               " is broken or nested too deep"};
  }
  return in.ok() ? Error{Errc::invalid, "protobuf: broken"} : in.error();
}

}  // namespace

Result<std::string_view> object_of(std::string_view kind, std::string_view bytes) {
  if (!is_protobuf(bytes)) return bytes;
  TRY(const Envelope envelope, open_envelope(bytes));
  if (envelope.kind != kind) {
    return fail(Errc::invalid,
                "kind: expected " + std::string(kind) + ", found " + std::string(envelope.kind));
  }
  return envelope.raw;
}

Status parse(MessageLite& message, std::string_view bytes) {
  // Bodies and frames are limited long before.
  if (bytes.size() > std::size_t{std::numeric_limits<int>::max()}) {
    return fail(Errc::invalid, "protobuf: more than 2 GiB");
  }
  if (parses(message, bytes)) return {};
  return fail(where_it_broke(message, bytes));
}

}  // namespace holdfast::sync::proto
