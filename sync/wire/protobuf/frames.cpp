#include "sync/wire/protobuf/frames.h"

#include <algorithm>

#include "sync/wire/protobuf/cursor.h"
#include "sync/wire/protobuf/envelope.h"
#include "sync/wire/protobuf/header.h"

namespace holdfast::sync::wire {
namespace {

constexpr std::size_t head_bytes = 4;

std::size_t read_length(std::string_view head) {
  std::size_t length = 0;
  for (const char c : head) length = length << 8U | static_cast<unsigned char>(c);
  return length;
}

// Moves bytes from `from` to `to` until `to` has `size` of them; returns whether it has.
bool fill(std::string& to, std::size_t size, std::string_view& from) {
  const std::size_t count = std::min(size - to.size(), from.size());
  to += from.substr(0, count);
  from.remove_prefix(count);
  return to.size() == size;
}

tl::unexpected<Error> broken_frame(const std::string& what) {
  return fail(Errc::corrupt, "watch event: " + what);
}

}  // namespace

Result<std::vector<std::string>> ProtobufFrames::feed(std::string_view bytes) {
  if (broken_) return fail(Errc::corrupt, "watch stream: unusable after an earlier error");
  std::vector<std::string> frames;
  for (;;) {
    if (!in_frame_) {
      if (!fill(head_, head_bytes, bytes)) return frames;
      length_ = read_length(std::exchange(head_, {}));
      if (length_ > limits_.document_bytes) {
        broken_ = true;
        return fail(Errc::exhausted, "watch stream: an event of " + std::to_string(length_) +
                                         " bytes, more than " +
                                         std::to_string(limits_.document_bytes));
      }
      in_frame_ = true;
    }
    if (!fill(frame_, length_, bytes)) return frames;
    frames.push_back(std::exchange(frame_, {}));
    in_frame_ = false;
  }
}

Result<WatchEvent> decode_protobuf_event(std::string_view frame) {
  std::string_view type_text;
  std::string_view object;
  WireCursor in(frame);
  while (in.next()) {
    if (in.number() == 1) {
      in.text(type_text);
    } else if (in.number() == 2) {
      WireCursor extension = in.message();
      while (extension.next()) {
        if (extension.number() == 1) extension.bytes(object);
      }
      in.take_error(extension);
    }
  }
  if (!in.ok()) return broken_frame(in.error().what);
  const auto type = parse_event_type(type_text);
  if (!type) return broken_frame("unknown type \"" + std::string(type_text) + "\"");
  if (!is_protobuf(object)) return broken_frame("no object");
  WatchEvent event{*type, std::string(object), {}};
  if (*type == WatchEvent::Type::error) return event;
  auto header = read_protobuf_header(object);
  if (!header) return broken_frame(header.error().what);
  if (header->resource_version.empty()) return broken_frame("object without resourceVersion");
  event.resource_version = std::move(header->resource_version);
  return event;
}

std::string encode_protobuf_event(WatchEvent::Type type, std::string_view object) {
  std::string extension;
  append_wire(extension, 1, object);
  std::string event;
  append_wire(event, 1, to_string(type));
  append_wire(event, 2, extension);
  std::string out;
  for (const unsigned shift : {24U, 16U, 8U, 0U}) {
    out += static_cast<char>(event.size() >> shift & 0xffU);
  }
  return out += event;
}

}  // namespace holdfast::sync::wire
