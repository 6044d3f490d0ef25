#include "sync/objects/typed.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "platform/check.h"
#include "platform/text.h"
#include "platform/time.h"
#include "sync/objects/quantity.h"

namespace holdfast::sync::objects {
namespace {

namespace json = boost::json;

// The path of a value: with indexes for unknown fields and without them for type errors, as
// upstream's two decoders print it.
struct Place {
  std::string indexed;
  std::string plain;

  [[nodiscard]] Place field(std::string_view name) const {
    return {join_dot(indexed, name), join_dot(plain, name)};
  }
  [[nodiscard]] Place index(std::size_t at) const {
    return {indexed + "[" + std::to_string(at) + "]", plain};
  }
  [[nodiscard]] static std::string join_dot(const std::string& left, std::string_view right) {
    return left.empty() ? std::string(right) : left + "." + std::string(right);
  }
};

class Shaper {
 public:
  Result<json::object> object(const StructType& type, const json::value& value, const Place& place,
                              bool root);

  std::vector<std::string> unknown;
  ManagedFields managed = ManagedFields::drop;

 private:
  Result<json::value> field(const StructType& owner, const Field& field, const json::value* value,
                            const Place& place);
  Result<json::value> element(const StructType& owner, const Field& field, const json::value& value,
                              const Place& place);
  Result<json::value> scalar(const StructType& owner, const Field& field, const json::value& value,
                             const Place& place);
};

std::string_view go_kind(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null:
      return "null";
    case json::kind::bool_:
      return "bool";
    case json::kind::int64:
    case json::kind::uint64:
    case json::kind::double_:
      return "number";
    case json::kind::string:
      return "string";
    case json::kind::array:
      return "array";
    case json::kind::object:
      return "object";
  }
  UNREACHABLE();
}

tl::unexpected<Error> mismatch(const StructType& owner, const json::value& value,
                               std::string_view wanted, const Place& place) {
  std::string found(go_kind(value));
  if (value.is_number()) found += " " + json::serialize(value);
  return fail(Errc::invalid, "json: cannot unmarshal " + found + " into Go struct field " +
                                 std::string(owner.name) + "." + place.plain + " of type " +
                                 std::string(wanted));
}

std::string wanted_name(const Field& field) {
  const std::string base = field.scalar == Scalar::object ? std::string(field.type->name)
                                                          : std::string(go_name(field.scalar));
  if (field.shape == Shape::list) return "[]" + base;
  if (field.shape == Shape::map) return "map[string]" + base;
  return base;
}

// The JSON that Go writes for a field that was never set.
Result<json::value> zero(Shaper& shaper, const Field& field, const Place& place) {
  if (field.pointer || field.shape != Shape::single) return json::value(nullptr);
  switch (field.scalar) {
    case Scalar::text:
      return json::value("");
    case Scalar::boolean:
      return json::value(false);
    case Scalar::int32:
    case Scalar::int64:
    case Scalar::int_or_string:
      return json::value(0);
    case Scalar::quantity:
      return json::value("0");
    case Scalar::time:
    case Scalar::micro_time:
    case Scalar::bytes:
    case Scalar::any:
    case Scalar::strings:
      return json::value(nullptr);
    case Scalar::object: {
      TRY(json::object made, shaper.object(*field.type, json::object(), place, false));
      return json::value(std::move(made));
    }
  }
  UNREACHABLE();
}

bool is_empty(const Field& field, const json::value& value) {
  if (value.is_null()) return true;
  if (field.pointer) return false;
  if (value.is_array()) return value.get_array().empty();
  if (field.shape == Shape::map) return value.get_object().empty();
  if (field.scalar == Scalar::quantity || field.scalar == Scalar::int_or_string) return false;
  if (value.is_string()) return value.get_string().empty();
  if (value.is_bool()) return !value.get_bool();
  if (value.is_int64()) return value.get_int64() == 0;
  return false;
}

// In Go, structs, times, quantities and the like are values, which omitempty never leaves out.
bool always_written(const Field& field) {
  if (field.pointer || field.shape != Shape::single) return false;
  return field.scalar == Scalar::object || field.scalar == Scalar::time ||
         field.scalar == Scalar::micro_time || field.scalar == Scalar::quantity ||
         field.scalar == Scalar::int_or_string;
}

Result<json::value> read_time(const json::value& value, TimeDigits digits) {
  const std::string_view text = value.get_string();
  auto time = parse_rfc3339(text);
  if (!time) {
    const std::string_view layout = digits == TimeDigits::seconds
                                        ? "2006-01-02T15:04:05Z07:00"
                                        : "2006-01-02T15:04:05.000000Z07:00";
    return fail(Errc::invalid, "parsing time \"" + std::string(text) + "\" as \"" +
                                   std::string(layout) + "\": cannot parse \"" + std::string(text) +
                                   "\" as \"2006\"");
  }
  return json::value(format_rfc3339(*time, digits));
}

Result<json::value> read_quantity(const json::value& value) {
  const std::string text =
      value.is_string() ? std::string(value.get_string()) : json::serialize(value);
  TRY(const Quantity quantity, Quantity::parse(text));
  return json::value(quantity.text());
}

// The number as int64 if it is an integer in the range of `Integer`.
template <class Integer>
std::optional<std::int64_t> whole(const json::value& value) {
  boost::system::error_code ec;
  const auto number = value.to_number<std::int64_t>(ec);
  if (ec) return std::nullopt;
  if (number < std::numeric_limits<Integer>::min()) return std::nullopt;
  if (number > std::numeric_limits<Integer>::max()) return std::nullopt;
  return number;
}

bool is_list_of_texts(const json::value& value) {
  const json::array* list = value.if_array();
  return list != nullptr &&
         std::all_of(list->begin(), list->end(), [](const auto& item) { return item.is_string(); });
}

Result<json::value> Shaper::scalar(const StructType& owner, const Field& field,
                                   const json::value& value, const Place& place) {
  const auto wrong = [&owner, &field, &value, &place] {
    return mismatch(owner, value, go_name(field.scalar), place);
  };
  switch (field.scalar) {
    case Scalar::any:
      return value;
    case Scalar::text:
      return value.is_string() ? Result<json::value>(value) : wrong();
    case Scalar::boolean:
      return value.is_bool() ? Result<json::value>(value) : wrong();
    case Scalar::int32:
    case Scalar::int64: {
      const auto number =
          field.scalar == Scalar::int32 ? whole<std::int32_t>(value) : whole<std::int64_t>(value);
      if (!value.is_number() || !number) return wrong();
      return json::value(*number);
    }
    case Scalar::int_or_string: {
      if (value.is_string()) return value;
      const auto number = whole<std::int32_t>(value);
      if (!value.is_number() || !number) return wrong();
      return json::value(*number);
    }
    case Scalar::quantity:
      return value.is_string() || value.is_number() ? read_quantity(value) : wrong();
    case Scalar::time:
      return value.is_string() ? read_time(value, TimeDigits::seconds) : wrong();
    case Scalar::micro_time:
      return value.is_string() ? read_time(value, TimeDigits::micros) : wrong();
    case Scalar::strings:
      return is_list_of_texts(value) ? Result<json::value>(value) : wrong();
    case Scalar::bytes: {
      if (!value.is_string()) return wrong();
      const auto bytes = base64_decode(value.get_string());
      if (!bytes) return fail(Errc::invalid, "illegal base64 data at input byte 0");
      return value;
    }
    case Scalar::object: {
      if (!value.is_object()) return mismatch(owner, value, wanted_name(field), place);
      TRY(json::object made, object(*field.type, value, place, false));
      return json::value(std::move(made));
    }
  }
  UNREACHABLE();
}

// Shapes one element of a list or map, or the single value. A null becomes the zero value.
Result<json::value> Shaper::element(const StructType& owner, const Field& field,
                                    const json::value& value, const Place& place) {
  Field single = field;
  single.shape = Shape::single;
  single.pointer = false;
  if (value.is_null()) return zero(*this, single, place);
  return scalar(owner, single, value, place);
}

Result<json::value> Shaper::field(const StructType& owner, const Field& field,
                                  const json::value* value, const Place& place) {
  if (value == nullptr || value->is_null()) return zero(*this, field, place);
  if (field.shape == Shape::single) return element(owner, field, *value, place);
  if (field.shape == Shape::list) {
    if (!value->is_array()) return mismatch(owner, *value, wanted_name(field), place);
    json::array list;
    list.reserve(value->get_array().size());
    for (std::size_t at = 0; at < value->get_array().size(); ++at) {
      TRY(json::value made, element(owner, field, value->get_array()[at], place.index(at)));
      list.push_back(std::move(made));
    }
    return json::value(std::move(list));
  }
  if (!value->is_object()) return mismatch(owner, *value, wanted_name(field), place);
  // Go writes maps with their keys sorted.
  std::vector<const json::key_value_pair*> pairs;
  for (const json::key_value_pair& pair : value->get_object()) pairs.push_back(&pair);
  std::sort(pairs.begin(), pairs.end(),
            [](const auto* left, const auto* right) { return left->key() < right->key(); });
  json::object map;
  for (const json::key_value_pair* pair : pairs) {
    TRY(json::value made, element(owner, field, pair->value(), place.field(pair->key())));
    map.emplace(pair->key(), std::move(made));
  }
  return json::value(std::move(map));
}

Result<json::object> Shaper::object(const StructType& type, const json::value& value,
                                    const Place& place, bool root) {
  const json::object& from = value.get_object();
  json::object made;
  made.reserve(type.fields.size());
  for (const Field& known : type.fields) {
    TRY(json::value one, field(type, known, from.if_contains(known.name), place.field(known.name)));
    const bool skip = known.omit_empty && !always_written(known) && is_empty(known, one);
    if (!skip) made.emplace(known.name, std::move(one));
  }
  for (const json::key_value_pair& pair : from) {
    const std::string_view key = pair.key();
    const bool type_meta = root && (key == "kind" || key == "apiVersion");
    if (type_meta || type.field(key) != nullptr) continue;
    if (type.name == "ObjectMeta" && key == "managedFields") {
      if (managed == ManagedFields::keep && pair.value().is_array())
        made.emplace(key, pair.value());
      continue;
    }
    unknown.push_back(place.field(key).indexed);
  }
  return made;
}

}  // namespace

Result<Shaped> shape(const StructType& type, const json::value& value, std::string_view kind,
                     std::string_view api_version, ManagedFields managed) {
  if (!value.is_object()) {
    return fail(Errc::invalid, "json: cannot unmarshal " + std::string(go_kind(value)) +
                                   " into Go value of type " + std::string(type.name));
  }
  Shaper shaper;
  shaper.managed = managed;
  TRY(json::object made, shaper.object(type, value, Place{}, true));
  if (kind.empty()) return Shaped{std::move(made), std::move(shaper.unknown)};
  json::object whole_object;
  whole_object.reserve(made.size() + 2);
  whole_object.emplace("kind", kind);
  whole_object.emplace("apiVersion", api_version);
  for (auto& pair : made) whole_object.emplace(pair.key(), std::move(pair.value()));
  return Shaped{std::move(whole_object), std::move(shaper.unknown)};
}

}  // namespace holdfast::sync::objects
