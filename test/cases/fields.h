// Reads fields from the JSON of cases. A field that is missing, null or of another type has the
// default value, because cases leave out what does not matter to them.

#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <string_view>

#include "platform/time.h"

namespace holdfast::cases {

namespace json = boost::json;

// The field of any type; nullptr if it is missing or null.
[[nodiscard]] const json::value* find(const json::object& object, std::string_view name);
[[nodiscard]] std::string text(const json::object& object, std::string_view name,
                               std::string_view fallback = {});
[[nodiscard]] double number(const json::object& object, std::string_view name, double fallback = 0);
[[nodiscard]] bool flag(const json::object& object, std::string_view name, bool fallback = false);
// The object or array in a field; an empty one as the default.
[[nodiscard]] const json::object& object_in(const json::object& object, std::string_view name);
[[nodiscard]] const json::array& array_in(const json::object& object, std::string_view name);

// `value` is in seconds and may have a fraction.
[[nodiscard]] Duration seconds_of(double value);
// Converts any JSON number; 0 if `value` is not a number.
[[nodiscard]] double to_double(const json::value& value);

// same() tells whether two values are equal as JSON, with numbers equal within a millionth.
// matches() does the same, but if both values are objects, it ignores fields of `found` that
// `wanted` does not have; objects inside of them must still be equal.
[[nodiscard]] bool matches(const json::value& wanted, const json::value& found);
[[nodiscard]] bool same(const json::value& wanted, const json::value& found);

// Applies a JSON merge patch (RFC 7386) to `target`.
void merge_patch(json::value& target, const json::value& patch);

}  // namespace holdfast::cases
