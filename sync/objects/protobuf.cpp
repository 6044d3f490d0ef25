#include "sync/objects/protobuf.h"

#include <boost/json.hpp>

#include "platform/check.h"
#include "platform/integers.h"
#include "platform/text.h"
#include "platform/time.h"
#include "sync/objects/typed.h"
#include "sync/wire/json.h"
#include "sync/wire/protobuf/wire_time.h"
#include "sync/wire/utf8.h"

namespace holdfast::sync::objects {
namespace {

namespace json = boost::json;

constexpr int depth_max = 64;
constexpr std::uint64_t number_max = (1U << 29U) - 1;
constexpr std::string_view magic("k8s\0", 4);

enum class Wire : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

// One field of a message on the wire.
struct Item {
  int number = 0;
  Wire wire = Wire::varint;
  std::uint64_t value = 0;      // of a varint
  std::string_view bytes = "";  // of the others; never null, as a key in Boost.JSON must not be
};

tl::unexpected<Error> broken(std::string_view why) {
  return fail(Errc::invalid, "proto: " + std::string(why));
}

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  [[nodiscard]] bool done() const { return rest_.empty(); }

  Result<std::uint64_t> varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) return broken("unexpected EOF");
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    return broken("integer overflow");
  }

  Result<Item> item() {
    TRY(const std::uint64_t tag, varint());
    Item item;
    if (tag >> 3 == 0 || tag >> 3 > number_max) return broken("illegal tag");
    item.number = static_cast<int>(tag >> 3);
    item.wire = static_cast<Wire>(tag & 7);
    switch (item.wire) {
      case Wire::varint: {
        TRY(item.value, varint());
        return item;
      }
      case Wire::fixed64:
        return take(item, 8);
      case Wire::fixed32:
        return take(item, 4);
      case Wire::bytes: {
        TRY(const std::uint64_t length, varint());
        return take(item, length);
      }
    }
    return broken("illegal wireType");
  }

 private:
  Result<Item> take(Item item, std::uint64_t length) {
    if (length > rest_.size()) return broken("unexpected EOF");
    item.bytes = rest_.substr(0, to_size(length));
    rest_.remove_prefix(item.bytes.size());
    return item;
  }

  std::string_view rest_;
};

// The last occurrence of a field in a small message; an empty Item if there is none.
Result<Item> find(std::string_view bytes, int number) {
  Item found;
  for (Reader reader(bytes); !reader.done();) {
    TRY(const Item item, reader.item());
    if (item.number == number) found = item;
  }
  return found;
}

Result<json::value> read_time(std::string_view bytes, TimeDigits digits) {
  TRY(const Item seconds, find(bytes, 1));
  TRY(const Item nanos, find(bytes, 2));
  if (seconds.value == 0 && nanos.value == 0) return json::value(nullptr);
  const auto since = static_cast<std::int64_t>(seconds.value);
  if (since == wire::wire_year_one) return json::value(nullptr);
  const auto time = wire::wall_time(since, static_cast<std::int32_t>(nanos.value));
  if (!time) return broken("time out of range");
  return json::value(format_rfc3339(*time, digits));
}

Result<json::value> read_text(std::string_view bytes) {
  if (!wire::is_utf8(bytes)) return broken("invalid UTF-8");
  return json::value(bytes);
}

Result<json::value> read_int_or_string(std::string_view bytes) {
  TRY(const Item type, find(bytes, 1));
  TRY(const Item number, find(bytes, 2));
  TRY(const Item text, find(bytes, 3));
  if (type.value == 1) return read_text(text.bytes);
  return json::value(static_cast<std::int64_t>(number.value));
}

// JSON inside a message (Go's RawExtension); null if it is not JSON.
Result<json::value> read_raw_json(std::string_view bytes) {
  TRY(const Item raw, find(bytes, 1));
  auto value = wire::parse_json(raw.bytes);
  return value ? *std::move(value) : json::value(nullptr);
}

Result<json::value> read_strings(std::string_view bytes) {
  json::array texts;
  for (Reader reader(bytes); !reader.done();) {
    TRY(const Item item, reader.item());
    if (item.number != 1) continue;
    TRY(json::value text, read_text(item.bytes));
    texts.push_back(std::move(text));
  }
  return json::value(std::move(texts));
}

// Reads the fields of `type` from `bytes`. If `inside` is not 0, `bytes` is the embedded message
// with this number, and only its fields are read.
Status read_fields(json::object& into, const StructType& type, int inside, std::string_view bytes,
                   int depth);

Result<json::value> read_scalar(const Field& field, const Item& item, int depth) {
  switch (field.scalar) {
    case Scalar::text:
      return read_text(item.bytes);
    case Scalar::bytes:
      return json::value(base64_encode(item.bytes));
    case Scalar::boolean:
      return json::value(item.value != 0);
    case Scalar::int32:
    case Scalar::int64:
      return json::value(static_cast<std::int64_t>(item.value));
    case Scalar::quantity: {
      TRY(const Item text, find(item.bytes, 1));
      if (text.bytes.empty()) return json::value(nullptr);
      return read_text(text.bytes);
    }
    case Scalar::int_or_string:
      return read_int_or_string(item.bytes);
    case Scalar::time:
      return read_time(item.bytes, TimeDigits::seconds);
    case Scalar::micro_time:
      return read_time(item.bytes, TimeDigits::micros);
    case Scalar::any:
      return read_raw_json(item.bytes);
    case Scalar::strings:
      return read_strings(item.bytes);
    case Scalar::object: {
      json::object object;
      if (auto read = read_fields(object, *field.type, 0, item.bytes, depth + 1); !read) {
        return fail(read.error());
      }
      return json::value(std::move(object));
    }
  }
  UNREACHABLE();
}

bool is_integer(const Field& field) {
  return field.scalar == Scalar::int32 || field.scalar == Scalar::int64;
}

Status add_to_list(json::object& into, const Field& field, const Item& item, int depth) {
  json::value& list = into[field.name];
  if (!list.is_array()) list.emplace_array();
  if (is_integer(field) && item.wire == Wire::bytes) {
    for (Reader reader(item.bytes); !reader.done();) {
      TRY(const std::uint64_t number, reader.varint());
      list.get_array().emplace_back(static_cast<std::int64_t>(number));
    }
    return {};
  }
  TRY(json::value value, read_scalar(field, item, depth));
  list.get_array().push_back(std::move(value));
  return {};
}

Status add_to_map(json::object& into, const Field& field, const Item& item, int depth) {
  json::value& map = into[field.name];
  if (!map.is_object()) map.emplace_object();
  TRY(const Item key, find(item.bytes, 1));
  TRY(const Item entry, find(item.bytes, 2));
  if (!wire::is_utf8(key.bytes)) return broken("invalid UTF-8");
  TRY(json::value value, read_scalar(field, entry, depth));
  map.get_object()[key.bytes] = std::move(value);
  return {};
}

Status add(json::object& into, const Field& field, const Item& item, int depth) {
  if (field.shape == Shape::list) return add_to_list(into, field, item, depth);
  if (field.shape == Shape::map) return add_to_map(into, field, item, depth);
  json::value* before = into.if_contains(field.name);
  if (field.scalar == Scalar::object && before != nullptr && before->is_object()) {
    // Protobuf merges repeated occurrences of a message.
    return read_fields(before->get_object(), *field.type, 0, item.bytes, depth + 1);
  }
  TRY(json::value value, read_scalar(field, item, depth));
  into[field.name] = std::move(value);
  return {};
}

Status read_fields(json::object& into, const StructType& type, int inside, std::string_view bytes,
                   int depth) {
  if (depth > depth_max) return broken("nested too deep");
  for (Reader reader(bytes); !reader.done();) {
    TRY(const Item item, reader.item());
    bool embedded = false;
    for (const Field& field : type.fields) {
      embedded = embedded || (inside == 0 && field.inside == item.number);
      if (field.inside != inside || field.number != item.number) continue;
      if (auto added = add(into, field, item, depth); !added) return added;
    }
    if (!embedded || item.wire != Wire::bytes) continue;
    if (auto read = read_fields(into, type, item.number, item.bytes, depth + 1); !read) {
      return read;
    }
  }
  return {};
}

}  // namespace

Result<ProtobufObject> unwrap_protobuf(std::string_view body) {
  if (!body.starts_with(magic)) {
    return fail(Errc::invalid,
                "provided data does not appear to be a protobuf message, expected prefix "
                "[107 56 115 0]");
  }
  body.remove_prefix(magic.size());
  TRY(const Item about, find(body, 1));
  TRY(const Item raw, find(body, 2));
  TRY(const Item api_version, find(about.bytes, 1));
  TRY(const Item kind, find(about.bytes, 2));
  if (!wire::is_utf8(api_version.bytes) || !wire::is_utf8(kind.bytes))
    return broken("invalid UTF-8");
  return ProtobufObject{std::string(api_version.bytes), std::string(kind.bytes),
                        std::string(raw.bytes)};
}

Result<json::object> read_protobuf(const StructType& type, std::string_view bytes) {
  json::object object;
  if (auto read = read_fields(object, type, 0, bytes, 0); !read) return fail(read.error());
  return object;
}

Result<json::object> object_of_protobuf(std::string_view enveloped) {
  TRY(const ProtobufObject object, unwrap_protobuf(enveloped));
  const StructType* type = find_type(object.kind);
  if (type == nullptr) return fail(Errc::invalid, "no kind \"" + object.kind + "\"");
  TRY(json::object fields, read_protobuf(*type, object.bytes));
  TRY(Shaped shaped, shape(*type, std::move(fields), object.kind, object.api_version));
  return std::move(shaped.object);
}

Result<std::string> json_of_protobuf(std::string_view enveloped) {
  TRY(const json::object object, object_of_protobuf(enveloped));
  return wire::serialize(object);
}

}  // namespace holdfast::sync::objects
