#include "sync/wire/frames.h"

#include <array>

#include "sync/wire/json_scan.h"
#include "sync/wire/object_header.h"

namespace holdfast::sync::wire {
namespace {

using EventType = WatchEvent::Type;

constexpr std::array types = {EventType::added, EventType::modified, EventType::deleted,
                              EventType::bookmark, EventType::error};
constexpr std::string_view white_space = " \t\r\n";

tl::unexpected<Error> corrupt(std::string what) {
  return fail(Errc::corrupt, "watch event: " + std::move(what));
}

}  // namespace

Error FrameSplitter::fail_with(Errc code, std::string what) {
  broken_ = true;
  document_.clear();
  return {code, "watch stream: " + std::move(what)};
}

std::size_t FrameSplitter::scan(std::string_view bytes, bool& done) {
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    const char c = bytes[at];
    if (in_string_) {
      if (escaped_) {
        escaped_ = false;
      } else if (c == '\\') {
        escaped_ = true;
      } else if (c == '"') {
        in_string_ = false;
      }
    } else if (c == '"') {
      in_string_ = true;
    } else if (c == '{' || c == '[') {
      if (++depth_ > limits_.depth) return at;
    } else if (c == '}' || c == ']') {
      done = --depth_ == 0;
      if (done) return at + 1;
    }
  }
  return bytes.size();
}

Result<std::vector<std::string>> FrameSplitter::feed(std::string_view bytes) {
  if (broken_) return fail(Errc::corrupt, "watch stream: unusable after an earlier error");
  std::vector<std::string> documents;
  while (!bytes.empty()) {
    if (document_.empty()) {
      const std::size_t start = bytes.find_first_not_of(white_space);
      if (start == bytes.npos) break;
      bytes.remove_prefix(start);
      if (bytes.front() != '{') return fail(fail_with(Errc::corrupt, "expected an object"));
    }
    bool done = false;
    const std::size_t length = scan(bytes, done);
    if (depth_ > limits_.depth) return fail(fail_with(Errc::exhausted, "nested too deep"));
    if (document_.size() + length > limits_.document_bytes) {
      return fail(
          fail_with(Errc::exhausted,
                    "an event of more than " + std::to_string(limits_.document_bytes) + " bytes"));
    }
    document_ += bytes.substr(0, length);
    bytes.remove_prefix(length);
    if (done) documents.push_back(std::exchange(document_, {}));
  }
  return documents;
}

std::string_view to_string(EventType type) {
  switch (type) {
    case EventType::added:
      return "ADDED";
    case EventType::modified:
      return "MODIFIED";
    case EventType::deleted:
      return "DELETED";
    case EventType::bookmark:
      return "BOOKMARK";
    case EventType::error:
      return "ERROR";
  }
  return "";
}

std::optional<WatchEvent::Type> parse_event_type(std::string_view text) {
  for (const EventType type : types) {
    if (to_string(type) == text) return type;
  }
  return std::nullopt;
}

Result<WatchEvent> decode_event(std::string_view document) {
  std::string type_text;
  std::string_view object;
  JsonCursor in(document);
  for (JsonFields field(in); field.next();) {
    if (field.key() == "type") {
      in.text(type_text);
    } else if (field.key() == "object") {
      object = in.skip();
    } else {
      in.skip();
    }
  }
  in.end();
  if (!in.ok()) return corrupt(in.error().what);
  const auto type = parse_event_type(type_text);
  if (!type) return corrupt("unknown type \"" + type_text + "\"");
  if (!object.starts_with('{')) return corrupt("no object");
  WatchEvent event{*type, std::string(object), {}};
  if (*type == EventType::error) return event;
  const auto header = read_header(object);
  if (!header) return corrupt(header.error().what);
  if (header->resource_version.empty()) return corrupt("object without resourceVersion");
  event.resource_version = header->resource_version;
  return event;
}

std::string encode_event(EventType type, std::string_view object) {
  std::string out = R"({"type":")";
  return out.append(to_string(type)).append(R"(","object":)").append(object).append("}\n");
}

}  // namespace holdfast::sync::wire
