#include "test/cases/fields.h"

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <cmath>

#include "sync/wire/json.h"

namespace holdfast::cases {
namespace {

[[noreturn]] void is_not(const json::value& value, std::string_view wanted) {
  throw Malformed(value, "expected " + std::string(wanted) + ", got " + excerpt(value));
}

}  // namespace

const json::value* find(const json::object& object, std::string_view name) {
  const json::value* found = object.if_contains({name.data(), name.size()});
  return found == nullptr || found->is_null() ? nullptr : found;
}

std::string text(const json::object& object, std::string_view name, std::string_view fallback) {
  const json::value* found = find(object, name);
  return std::string(found == nullptr ? fallback : text_of(*found));
}

double number(const json::object& object, std::string_view name, double fallback) {
  const json::value* found = find(object, name);
  return found == nullptr ? fallback : number_of(*found);
}

bool flag(const json::object& object, std::string_view name, bool fallback) {
  const json::value* found = find(object, name);
  if (found == nullptr) return fallback;
  if (!found->is_bool()) is_not(*found, "true or false");
  return found->get_bool();
}

const json::object& object_in(const json::object& object, std::string_view name) {
  static const json::object none;
  const json::value* found = find(object, name);
  return found == nullptr ? none : object_of(*found);
}

const json::array& array_in(const json::object& object, std::string_view name) {
  static const json::array none;
  const json::value* found = find(object, name);
  return found == nullptr ? none : array_of(*found);
}

std::vector<std::string> texts_in(const json::object& object, std::string_view name) {
  std::vector<std::string> texts;
  for (const json::value& each : array_in(object, name)) texts.emplace_back(text_of(each));
  return texts;
}

const json::value& needs(const json::object& object, std::string_view name) {
  const json::value* found = find(object, name);
  if (found == nullptr) throw Malformed(object, name, "is missing");
  return *found;
}

std::string needs_text(const json::object& object, std::string_view name) {
  const json::value& value = needs(object, name);
  std::string found(text_of(value));
  if (found.empty()) throw Malformed(value, "is empty");
  return found;
}

const json::object& needs_object(const json::object& object, std::string_view name) {
  return object_of(needs(object, name));
}

const json::array& needs_elements(const json::object& object, std::string_view name) {
  const json::array& found = array_of(needs(object, name));
  if (found.empty()) throw Malformed(object, name, "is empty");
  return found;
}

const json::object& object_of(const json::value& value) {
  if (!value.is_object()) is_not(value, "an object");
  return value.get_object();
}

const json::array& array_of(const json::value& value) {
  if (!value.is_array()) is_not(value, "a list");
  return value.get_array();
}

std::string_view text_of(const json::value& value) {
  if (!value.is_string()) is_not(value, "a string");
  return {value.get_string().data(), value.get_string().size()};
}

double number_of(const json::value& value) {
  if (!value.is_number() || !std::isfinite(to_double(value))) is_not(value, "a number");
  return to_double(value);
}

std::int64_t integer_of(const json::value& value, Range range) {
  const double found = number_of(value);
  const bool fits = found >= static_cast<double>(range.least) &&
                    found <= static_cast<double>(range.most) && found == std::floor(found);
  if (!fits) {
    is_not(value, "a whole number from " + std::to_string(range.least) + " to " +
                      std::to_string(range.most));
  }
  return static_cast<std::int64_t>(found);
}

std::int64_t integer(const json::object& object, std::string_view name, Range range,
                     std::int64_t fallback) {
  const json::value* found = find(object, name);
  return found == nullptr ? fallback : integer_of(*found, range);
}

Duration duration_of(const json::value& seconds) {
  constexpr double most = 1e9;
  const double found = number_of(seconds);
  if (std::abs(found) > most) is_not(seconds, "at most 1000000000 seconds");
  return Duration(std::llround(found * 1e9));
}

Duration duration(const json::object& object, std::string_view name) {
  const json::value* found = find(object, name);
  return found == nullptr ? Duration::zero() : duration_of(*found);
}

WallTime time_in(const json::object& object, std::string_view name) {
  constexpr WallTime least{};
  constexpr WallTime most{std::chrono::hours(24 * 365 * 230)};
  const json::value& value = needs(object, name);
  const auto time = parse_rfc3339(text_of(value));
  if (!time) throw Malformed(value, time.error().what);
  if (*time < least || *time > most) is_not(value, "a time between 1970 and 2200");
  return *time;
}

std::string excerpt(const json::value& value) {
  constexpr std::size_t most = 80;
  std::string found = sync::wire::serialize(value);
  if (found.size() <= most) return found;
  found.resize(most);
  return found + "...";
}

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

json::array sorted_array(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  return json::array(names.begin(), names.end());
}

std::string shown(const json::value& value) { return json::serialize(value); }

}  // namespace holdfast::cases
