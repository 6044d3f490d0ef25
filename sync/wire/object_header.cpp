#include "sync/wire/object_header.h"

#include "sync/wire/json_scan.h"

namespace holdfast::sync::wire {
namespace {

void read_labels(JsonCursor& in, StringMap& labels) {
  std::string value;
  for (JsonFields field(in); field.next();) {
    value.clear();
    if (in.text(value)) labels.set(field.key(), value);
  }
}

void read_time(JsonCursor& in, std::optional<WallTime>& out) {
  std::string text;
  if (!in.text(text) || text.empty()) return;
  const auto time = parse_rfc3339(text);
  if (!time) return in.fail_here("expected a time (RFC 3339)");
  out = *time;
}

void read_metadata(JsonCursor& in, ObjectHeader& header) {
  for (JsonFields field(in); field.next();) {
    const std::string_view key = field.key();
    if (key == "name") {
      in.text(header.name);
    } else if (key == "namespace") {
      in.text(header.namespace_name);
    } else if (key == "uid") {
      in.text(header.uid);
    } else if (key == "resourceVersion") {
      in.text(header.resource_version);
    } else if (key == "labels") {
      read_labels(in, header.labels);
    } else if (key == "deletionTimestamp") {
      read_time(in, header.deletion_timestamp);
    } else {
      in.skip();
    }
  }
}

// Moves the cursor to the value of a field; returns false if there is none or on an error.
bool find_field(JsonCursor& in, std::string_view name) {
  if (in.peek() != '{' && in.peek() != 'n') {
    in.skip();
    return false;
  }
  for (JsonFields field(in); field.next();) {
    if (field.key() == name) return true;
    in.skip();
  }
  return false;
}

bool before_resource_version(std::string_view key) {
  return key == "name" || key == "generateName" || key == "namespace" || key == "selfLink" ||
         key == "uid";
}

}  // namespace

Result<ObjectHeader> read_header(std::string_view object) {
  ObjectHeader header;
  JsonCursor in(object);
  int wanted = 3;
  for (JsonFields field(in); wanted > 0 && field.next();) {
    --wanted;
    if (field.key() == "kind") {
      in.text(header.kind);
    } else if (field.key() == "apiVersion") {
      in.text(header.api_version);
    } else if (field.key() == "metadata") {
      read_metadata(in, header);
    } else {
      ++wanted;
      in.skip();
    }
  }
  if (!in.ok()) return fail(in.error());
  return header;
}

Result<std::optional<std::string>> text_at(std::string_view object,
                                           std::span<const std::string_view> path) {
  JsonCursor in(object);
  for (const std::string_view name : path) {
    if (find_field(in, name)) continue;
    if (!in.ok()) return fail(in.error());
    return std::nullopt;
  }
  if (in.null()) return std::nullopt;
  std::string text;
  const char first = in.peek();
  if (first == '{' || first == '[') in.fail_here("expected a scalar");
  if (first == '"') {
    in.text(text);
  } else {
    text = in.skip();
  }
  if (!in.ok()) return fail(in.error());
  return text;
}

Result<std::string> with_resource_version(std::string_view object,
                                          std::string_view resource_version) {
  JsonCursor in(object);
  if (!find_field(in, "metadata") || in.peek() != '{') {
    return fail(in.ok() ? Error{Errc::invalid, "object without metadata"} : in.error());
  }
  const std::string quoted = std::string("\"").append(resource_version).append("\"");
  std::size_t insert_at = in.offset() + 1;
  bool any_before = false;
  bool all_before = true;
  for (JsonFields field(in); field.next();) {
    in.peek();
    const std::size_t value_at = in.offset();
    const std::string_view old = in.skip();
    if (field.key() == "resourceVersion") {
      if (!in.ok()) break;
      return std::string(object.substr(0, value_at))
          .append(quoted)
          .append(object.substr(value_at + old.size()));
    }
    all_before = all_before && before_resource_version(field.key());
    if (!all_before) continue;
    any_before = true;
    insert_at = in.offset();
  }
  if (!in.ok()) return fail(in.error());
  const std::string field = "\"resourceVersion\":" + quoted;
  const bool last = JsonCursor(object.substr(insert_at)).peek() == '}';
  const std::string piece = any_before ? "," + field : last ? field : field + ",";
  return std::string(object.substr(0, insert_at)).append(piece).append(object.substr(insert_at));
}

}  // namespace holdfast::sync::wire
