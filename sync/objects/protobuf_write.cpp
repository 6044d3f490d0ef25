#include "sync/objects/protobuf_write.h"

#include <boost/json.hpp>
#include <map>

#include "platform/check.h"
#include "platform/text.h"
#include "platform/time.h"
#include "sync/wire/json.h"
#include "sync/wire/list_bytes.h"
#include "sync/wire/protobuf/cursor.h"
#include "sync/wire/protobuf/envelope.h"
#include "sync/wire/protobuf/status.h"
#include "sync/wire/read.h"

namespace holdfast::sync::objects {
namespace {

namespace json = boost::json;

tl::unexpected<Error> unfit(const Field& field) {
  return fail(Errc::invalid,
              std::string(field.name) + ": not a " + std::string(go_name(field.scalar)));
}

Result<std::string> write_time(const Field& field, std::string_view text) {
  const auto time = parse_rfc3339(text);
  if (!time) return unfit(field);
  const auto seconds = std::chrono::floor<std::chrono::seconds>(*time);
  std::string out;
  wire::append_wire(out, 1, seconds.time_since_epoch().count());
  wire::append_wire(out, 2, (*time - seconds).count());
  return out;
}

std::string write_int_or_string(const json::value& value) {
  std::string out;
  wire::append_wire(out, 1, std::int64_t{value.is_string()});
  wire::append_wire(out, 2, value.is_int64() ? value.get_int64() : 0);
  wire::append_wire(out, 3, wire::as_text(value));
  return out;
}

std::string write_quantity(const json::value& value) {
  std::string out;
  wire::append_wire(out, 1,
                    value.is_string() ? std::string(wire::as_text(value)) : wire::serialize(value));
  return out;
}

// JSON inside a message (Go's RawExtension).
std::string write_raw_json(const json::value& value) {
  std::string out;
  wire::append_wire(out, 1, wire::serialize(value));
  return out;
}

Result<std::string> write_strings(const Field& field, const json::value& value) {
  if (!value.is_array()) return unfit(field);
  std::string out;
  for (const json::value& text : value.get_array()) {
    if (!text.is_string()) return unfit(field);
    wire::append_wire(out, 1, wire::as_text(text));
  }
  return out;
}

// The content of a field with a length: what follows tag and length.
Result<std::string> write_bytes(const Field& field, const json::value& value) {
  switch (field.scalar) {
    case Scalar::text:
      if (!value.is_string()) return unfit(field);
      return std::string(wire::as_text(value));
    case Scalar::bytes:
      return base64_decode(wire::as_text(value));
    case Scalar::quantity:
      return write_quantity(value);
    case Scalar::int_or_string:
      return write_int_or_string(value);
    case Scalar::time:
    case Scalar::micro_time:
      return write_time(field, wire::as_text(value));
    case Scalar::object:
      if (!value.is_object()) return unfit(field);
      return write_protobuf(*field.type, value.get_object());
    case Scalar::any:
      return write_raw_json(value);
    case Scalar::strings:
      return write_strings(field, value);
    case Scalar::boolean:
    case Scalar::int32:
    case Scalar::int64:
      break;
  }
  UNREACHABLE();
}

Status write_single(std::string& out, const Field& field, int number, const json::value& value) {
  if (value.is_null()) return {};
  if (field.scalar == Scalar::boolean) {
    if (!value.is_bool()) return unfit(field);
    wire::append_wire(out, number, std::int64_t{value.get_bool()});
  } else if (field.scalar == Scalar::int32 || field.scalar == Scalar::int64) {
    if (!value.is_int64()) return unfit(field);
    wire::append_wire(out, number, value.get_int64());
  } else {
    TRY(const std::string bytes, write_bytes(field, value));
    wire::append_wire(out, number, bytes);
  }
  return {};
}

Status write_list(std::string& out, const Field& field, const json::value& value) {
  if (!value.is_array()) return unfit(field);
  for (const json::value& item : value.get_array()) {
    if (auto written = write_single(out, field, field.number, item); !written) return written;
  }
  return {};
}

Status write_map(std::string& out, const Field& field, const json::value& value) {
  if (!value.is_object()) return unfit(field);
  for (const auto& entry : value.get_object()) {
    std::string pair;
    wire::append_wire(pair, 1, std::string_view(entry.key()));
    if (auto written = write_single(pair, field, 2, entry.value()); !written) return written;
    wire::append_wire(out, field.number, pair);
  }
  return {};
}

Status write_field(std::string& out, const Field& field, const json::value& value) {
  if (field.shape == Shape::list) return write_list(out, field, value);
  if (field.shape == Shape::map) return write_map(out, field, value);
  return write_single(out, field, field.number, value);
}

Result<std::string> write_list_body(const StructType& item, const json::object& list) {
  TRY(const std::string metadata,
      write_protobuf(known_type("ListMeta"), wire::dig_object(list, {"metadata"})));
  std::string out;
  wire::append_wire(out, 1, metadata);
  for (const json::value& object : wire::dig_list(list, {"items"})) {
    TRY(const std::string bytes, write_protobuf(item, wire::as_object(object)));
    wire::append_wire(out, 2, bytes);
  }
  return out;
}

}  // namespace

Result<std::string> write_protobuf(const StructType& type, const json::object& object) {
  std::string out;
  std::map<int, std::string> embedded;  // embedded messages, which JSON does not show, by number
  for (const Field& field : type.fields) {
    const json::value* value = object.if_contains(field.name);
    if (value == nullptr || value->is_null() || field.number == 0) continue;
    std::string& into = field.inside == 0 ? out : embedded[field.inside];
    if (auto written = write_field(into, field, *value); !written) return fail(written.error());
  }
  for (const auto& [number, bytes] : embedded) wire::append_wire(out, number, bytes);
  return out;
}

Result<std::string> to_protobuf(std::string_view body) {
  TRY(const json::value value, wire::parse_json(body));
  const json::object& object = wire::as_object(value);
  const std::string_view kind = wire::dig_text(object, {"kind"});
  const std::string_view version = wire::dig_text(object, {"apiVersion"});
  if (kind == "Status") {
    TRY(const wire::ApiStatus status, wire::parse_status(body));
    return wire::encode_protobuf_status(status);
  }
  const bool is_list = object.contains("items") && kind.ends_with("List");
  const StructType* type = find_type(is_list ? wire::item_kind(kind) : kind);
  if (type == nullptr) return fail(Errc::invalid, "no kind \"" + std::string(kind) + "\"");
  TRY(const std::string raw,
      is_list ? write_list_body(*type, object) : write_protobuf(*type, object));
  return wire::enveloped(version, kind, raw);
}

}  // namespace holdfast::sync::objects
