// Reads and writes inside JSON objects without checking each step.
//
// A value that is absent, null or of another type reads as "", 0, false, or an empty list or
// object. Returned references are borrowed.

#pragma once

#include <boost/json.hpp>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace holdfast::sync::wire {

using Path = std::initializer_list<std::string_view>;

// nullptr if it is absent or null.
[[nodiscard]] const boost::json::value* dig(const boost::json::object& from, Path path);

[[nodiscard]] std::string_view dig_text(const boost::json::object& from, Path path);
[[nodiscard]] std::int64_t dig_int(const boost::json::object& from, Path path);
[[nodiscard]] bool dig_bool(const boost::json::object& from, Path path);
[[nodiscard]] const boost::json::array& dig_list(const boost::json::object& from, Path path);
[[nodiscard]] const boost::json::object& dig_object(const boost::json::object& from, Path path);

// The value as an object, or an empty object; the value as text, or "".
[[nodiscard]] const boost::json::object& as_object(const boost::json::value& value);
[[nodiscard]] std::string_view as_text(const boost::json::value& value);

// The object at `path`; missing objects on the way are created.
boost::json::object& make_object(boost::json::object& in, Path path);

// Sets `key` if it is absent or null.
void set_default(boost::json::object& in, std::string_view key, boost::json::value value);

// The string or the number as text.
[[nodiscard]] std::string int_or_string(const boost::json::value& value);

// metadata.name, .namespace, .uid, .resourceVersion
[[nodiscard]] inline std::string_view name_of(const boost::json::object& object) {
  return dig_text(object, {"metadata", "name"});
}
[[nodiscard]] inline std::string_view namespace_of(const boost::json::object& object) {
  return dig_text(object, {"metadata", "namespace"});
}
[[nodiscard]] inline std::string_view uid_of(const boost::json::object& object) {
  return dig_text(object, {"metadata", "uid"});
}
[[nodiscard]] inline std::string_view version_of(const boost::json::object& object) {
  return dig_text(object, {"metadata", "resourceVersion"});
}
[[nodiscard]] inline bool is_terminating(const boost::json::object& object) {
  return dig(object, {"metadata", "deletionTimestamp"}) != nullptr;
}

// The owner reference with controller=true, or an empty object.
[[nodiscard]] const boost::json::object& controller_of(const boost::json::object& object);

}  // namespace holdfast::sync::wire
