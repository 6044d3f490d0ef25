// JSON: a printed value is read back unchanged, and the cursor, which builds no values, sees what
// the parser sees.

#include <algorithm>
#include <cmath>

#include "platform/check.h"
#include "sync/wire/codec.h"
#include "sync/wire/json.h"
#include "sync/wire/json_scan.h"
#include "sync/wire/list_bytes.h"
#include "sync/wire/object_header.h"
#include "sync/wire/read.h"
#include "test/fuzz/pieces.h"

namespace holdfast::sync {
namespace {

// Whether `printed`, which was printed and read again, equals `original`.
bool alike(const json::value& original, const json::value& printed);

// The parser rounds the last digit of a fraction; numbers that are too large for it are printed as
// null.
bool alike(double original, double printed) {
  if (std::fabs(original) > 1e307) return std::isinf(printed) || std::fabs(printed) > 1e306;
  return std::fabs(original - printed) <= std::max(std::fabs(original) * 1e-14, 1e-300);
}

bool alike(const json::object& original, const json::object& printed) {
  return original.size() == printed.size() &&
         std::all_of(original.begin(), original.end(), [&printed](const auto& field) {
           const json::value* other = printed.if_contains(field.key());
           return other != nullptr && alike(field.value(), *other);
         });
}

bool alike(const json::value& original, const json::value& printed) {
  if (original.is_double() && !std::isfinite(original.get_double())) return printed.is_null();
  if (original.is_double() || printed.is_double()) {
    return original.is_number() && printed.is_number() &&
           alike(original.to_number<double>(), printed.to_number<double>());
  }
  if (original.is_object()) {
    return printed.is_object() && alike(original.get_object(), printed.get_object());
  }
  if (!original.is_array()) return original == printed;
  return printed.is_array() &&
         std::equal(original.get_array().begin(), original.get_array().end(),
                    printed.get_array().begin(), printed.get_array().end(),
                    [](const json::value& a, const json::value& b) { return alike(a, b); });
}

json::value parsed(std::string_view text) {
  auto value = wire::parse_json(text, {.depth = 256});
  CHECK(value.has_value());
  return *std::move(value);
}

void walk(wire::JsonCursor& in, const json::value& value);

// If two fields have the same name, the parser keeps only the last one, so they cannot be compared.
void walk_object(wire::JsonCursor& in, const json::object& object) {
  std::size_t count = 0;
  wire::JsonCursor ahead = in;
  for (wire::JsonFields field(ahead); field.next(); ahead.skip()) ++count;
  CHECK(ahead.ok() && count >= object.size());
  if (count != object.size()) {
    in = ahead;
    return;
  }
  for (wire::JsonFields field(in); field.next();) {
    const json::value* found = object.if_contains(field.key());
    CHECK(found != nullptr);
    walk(in, *found);
  }
}

void walk_array(wire::JsonCursor& in, const json::array& array) {
  std::size_t count = 0;
  for (wire::JsonItems item(in); item.next(); ++count) {
    CHECK(count < array.size());
    walk(in, array[count]);
  }
  CHECK(count == array.size());
}

void walk(wire::JsonCursor& in, const json::value& value) {
  if (value.is_object()) {
    walk_object(in, value.get_object());
  } else if (value.is_array()) {
    walk_array(in, value.get_array());
  } else if (value.is_string()) {
    std::string text;
    CHECK(in.text(text) && text == wire::as_text(value));
  } else {
    CHECK(!in.skip().empty());
  }
  CHECK(in.ok());
}

void check_header(const std::string& text, const json::object& object) {
  const auto header = wire::read_header(text);
  if (header) {
    CHECK(header->name == wire::name_of(object) &&
          header->namespace_name == wire::namespace_of(object));
    CHECK(header->uid == wire::uid_of(object) &&
          header->resource_version == wire::version_of(object));
    const json::object& labels = wire::dig_object(object, {"metadata", "labels"});
    CHECK(header->labels.size() == labels.size());
    for (const auto& label : labels) {
      CHECK(header->labels.get(label.key()) == wire::as_text(label.value()));
    }
  }
  const json::value* metadata = object.if_contains("metadata");
  const auto changed = wire::with_resource_version(text, "7");
  CHECK(changed.has_value() == (metadata != nullptr && metadata->is_object()));
  if (!changed) return;
  json::object expected = object;
  expected["metadata"].get_object()["resourceVersion"] = "7";
  CHECK(alike(expected, parsed(*changed)));
}

void check_item(const std::string& text, const json::object& object) {
  json::object expected = object;
  if (!object.contains("kind") && !object.contains("apiVersion")) {
    const std::string alone = wire::standalone(text, "Pod", "v1");
    expected["kind"] = "Pod";
    expected["apiVersion"] = "v1";
    CHECK(alike(expected, parsed(alone)));
  }
  expected.erase("kind");
  expected.erase("apiVersion");
  const auto item = wire::as_item(text);
  CHECK(item.has_value());
  CHECK(alike(expected, parsed(*item)));
}

void check_list(const std::string& text) {
  const auto list = wire::split_list(text);
  if (!list) return;
  const std::string joined = join_list(list->head, list->items);
  const auto again = wire::split_list(joined);
  CHECK(again.has_value() && *again == *list);
}

template <class T>
void check_codec(const json::value& value) {
  const auto object = wire::decode<T>(value);
  if (!object) return;
  const json::object encoded = wire::encode(*object);
  const auto again = wire::decode<T>(encoded);
  CHECK(again.has_value() &&
        sync::wire::serialize(wire::encode(*again)) == sync::wire::serialize(encoded));
}

void check_json(std::string_view text) {
  const auto value = wire::parse_json(text);
  if (!value) {
    // Any result is fine, as long as there is no crash and no endless loop.
    (void)wire::split_list(text);
    (void)wire::read_header(text);
    (void)wire::as_item(text);
    (void)wire::with_resource_version(text, "7");
    return;
  }
  wire::JsonCursor whole(text);
  CHECK(!whole.skip().empty() && whole.end());
  wire::JsonCursor in(text);
  walk(in, *value);
  CHECK(in.end());
  const std::string printed = sync::wire::serialize(*value);
  CHECK(alike(*value, parsed(printed)));
  check_list(printed);
  if (!value->is_object()) return;
  check_header(printed, value->get_object());
  check_item(printed, value->get_object());
  check_codec<Pod>(*value);
  check_codec<Node>(*value);
  check_codec<Lease>(*value);
}

}  // namespace
}  // namespace holdfast::sync

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  holdfast::sync::check_json(holdfast::test::text_of(data, size));
  return 0;
}
