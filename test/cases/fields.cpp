#include "test/cases/fields.h"

#include <algorithm>
#include <cmath>

namespace holdfast::cases {

const json::value* find(const json::object& object, std::string_view name) {
  const json::value* found = object.if_contains({name.data(), name.size()});
  return found == nullptr || found->is_null() ? nullptr : found;
}

std::string text(const json::object& object, std::string_view name, std::string_view fallback) {
  const json::value* found = find(object, name);
  if (found == nullptr || !found->is_string()) return std::string(fallback);
  return std::string(found->get_string());
}

double number(const json::object& object, std::string_view name, double fallback) {
  const json::value* found = find(object, name);
  return found == nullptr || !found->is_number() ? fallback : to_double(*found);
}

bool flag(const json::object& object, std::string_view name, bool fallback) {
  const json::value* found = find(object, name);
  return found == nullptr || !found->is_bool() ? fallback : found->get_bool();
}

const json::object& object_in(const json::object& object, std::string_view name) {
  static const json::object none;
  const json::value* found = find(object, name);
  return found == nullptr || !found->is_object() ? none : found->get_object();
}

const json::array& array_in(const json::object& object, std::string_view name) {
  static const json::array none;
  const json::value* found = find(object, name);
  return found == nullptr || !found->is_array() ? none : found->get_array();
}

Duration seconds_of(double value) { return Duration(std::llround(value * 1e9)); }

double to_double(const json::value& value) {
  if (value.is_double()) return value.get_double();
  if (value.is_uint64()) return static_cast<double>(value.get_uint64());
  return value.is_int64() ? static_cast<double>(value.get_int64()) : 0;
}

bool same(const json::value& wanted, const json::value& found) {
  if (wanted.is_number() && found.is_number()) {
    const double left = to_double(wanted);
    return std::abs(left - to_double(found)) <= 1e-6 * std::max(1.0, std::abs(left));
  }
  if (wanted.is_array() && found.is_array()) {
    return std::equal(wanted.get_array().begin(), wanted.get_array().end(),
                      found.get_array().begin(), found.get_array().end(), same);
  }
  if (wanted.is_object() && found.is_object()) {
    return wanted.get_object().size() == found.get_object().size() && matches(wanted, found);
  }
  return wanted == found;
}

bool matches(const json::value& wanted, const json::value& found) {
  if (!wanted.is_object() || !found.is_object()) return same(wanted, found);
  for (const auto& field : wanted.get_object()) {
    const json::value* other = found.get_object().if_contains(field.key());
    if (other == nullptr || !same(field.value(), *other)) return false;
  }
  return true;
}

void merge_patch(json::value& target, const json::value& patch) {
  if (!patch.is_object()) {
    target = patch;
    return;
  }
  if (!target.is_object()) target.emplace_object();
  for (const auto& field : patch.get_object()) {
    if (field.value().is_null()) {
      target.get_object().erase(field.key());
    } else {
      merge_patch(target.get_object()[field.key()], field.value());
    }
  }
}

}  // namespace holdfast::cases
