// Reading the JSON of cases: fields by name, with a default where a case may leave them out.

#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <string_view>

#include "platform/time.h"

namespace holdfast::cases {

namespace json = boost::json;

// nullptr when there is none, or null.
[[nodiscard]] const json::value* find(const json::object& object, std::string_view name);
[[nodiscard]] std::string text(const json::object& object, std::string_view name,
                               std::string_view fallback = {});
[[nodiscard]] double number(const json::object& object, std::string_view name, double fallback = 0);
[[nodiscard]] bool flag(const json::object& object, std::string_view name, bool fallback = false);
// An empty one when there is none.
[[nodiscard]] const json::object& object_in(const json::object& object, std::string_view name);
[[nodiscard]] const json::array& array_in(const json::object& object, std::string_view name);

// Seconds, possibly with a fraction.
[[nodiscard]] Duration seconds_of(double value);
// Any JSON number.
[[nodiscard]] double to_double(const json::value& value);

// Equal as JSON, numbers within a millionth; of objects at the top only the fields that `wanted`
// lists.
[[nodiscard]] bool matches(const json::value& wanted, const json::value& found);
[[nodiscard]] bool same(const json::value& wanted, const json::value& found);

// RFC 7386.
void merge_patch(json::value& target, const json::value& patch);

}  // namespace holdfast::cases
