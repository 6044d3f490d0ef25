#include "sync/wire/read.h"

namespace holdfast::sync::wire {

namespace json = boost::json;

const json::value* dig(const json::object& from, Path path) {
  const json::object* in = &from;
  const json::value* found = nullptr;
  for (const std::string_view step : path) {
    if (in == nullptr) return nullptr;
    found = in->if_contains(step);
    if (found == nullptr || found->is_null()) return nullptr;
    in = found->if_object();
  }
  return found;
}

std::string_view dig_text(const json::object& from, Path path) {
  const json::value* found = dig(from, path);
  return found == nullptr ? std::string_view() : as_text(*found);
}

std::int64_t dig_int(const json::object& from, Path path) {
  const json::value* found = dig(from, path);
  if (found == nullptr || !found->is_int64()) return 0;
  return found->get_int64();
}

bool dig_bool(const json::object& from, Path path) {
  const json::value* found = dig(from, path);
  return found != nullptr && found->is_bool() && found->get_bool();
}

const json::array& dig_list(const json::object& from, Path path) {
  static const json::array none;
  const json::value* found = dig(from, path);
  return found == nullptr || !found->is_array() ? none : found->get_array();
}

const json::object& dig_object(const json::object& from, Path path) {
  static const json::object none;
  const json::value* found = dig(from, path);
  return found == nullptr || !found->is_object() ? none : found->get_object();
}

const json::object& as_object(const json::value& value) {
  static const json::object none;
  return value.is_object() ? value.get_object() : none;
}

std::string_view as_text(const json::value& value) {
  return value.is_string() ? std::string_view(value.get_string()) : std::string_view();
}

json::object& make_object(json::object& in, Path path) {
  json::object* at = &in;
  for (const std::string_view step : path) {
    json::value& next = (*at)[step];
    if (!next.is_object()) next.emplace_object();
    at = &next.get_object();
  }
  return *at;
}

void set_default(json::object& in, std::string_view key, json::value value) {
  json::value& slot = in[key];
  if (slot.is_null()) slot = std::move(value);
}

std::string int_or_string(const json::value& value) {
  if (value.is_string()) return std::string(value.get_string());
  return value.is_int64() ? std::to_string(value.get_int64()) : std::string();
}

const json::object& controller_of(const json::object& object) {
  static const json::object none;
  for (const json::value& owner : dig_list(object, {"metadata", "ownerReferences"})) {
    if (dig_bool(as_object(owner), {"controller"})) return owner.get_object();
  }
  return none;
}

}  // namespace holdfast::sync::wire
