// Reads fields from the JSON of cases. An optional field that is missing or null has the default
// value, because cases leave out what does not matter to them. A value of another type, a missing
// required field and a number out of range are errors: these functions throw Malformed.

#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "platform/time.h"
#include "test/cases/malformed.h"

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
[[nodiscard]] std::vector<std::string> texts_in(const json::object& object, std::string_view name);

// Required fields: not null, and the text not empty.
[[nodiscard]] const json::value& needs(const json::object& object, std::string_view name);
[[nodiscard]] std::string needs_text(const json::object& object, std::string_view name);
[[nodiscard]] const json::object& needs_object(const json::object& object, std::string_view name);
// With at least one element.
[[nodiscard]] const json::array& needs_elements(const json::object& object, std::string_view name);

// The value itself.
[[nodiscard]] const json::object& object_of(const json::value& value);
[[nodiscard]] const json::array& array_of(const json::value& value);
[[nodiscard]] std::string_view text_of(const json::value& value);
[[nodiscard]] double number_of(const json::value& value);

// Whole numbers that a case may contain. No rule has a use for larger ones.
struct Range {
  std::int64_t least = 0;
  std::int64_t most = 1'000'000'000;
};
[[nodiscard]] std::int64_t integer_of(const json::value& value, Range range);
[[nodiscard]] std::int64_t integer(const json::object& object, std::string_view name, Range range,
                                   std::int64_t fallback = 0);

// A number of seconds, which may have a fraction: at most thirty years, in either direction.
[[nodiscard]] Duration duration_of(const json::value& seconds);
[[nodiscard]] Duration duration(const json::object& object, std::string_view name);
// An RFC 3339 time between 1970 and 2200, so that no sum with a duration overflows.
[[nodiscard]] WallTime time_in(const json::object& object, std::string_view name);

// Converts any JSON number; 0 if `value` is not a number.
[[nodiscard]] double to_double(const json::value& value);
// The value for error messages, shortened if it is long.
[[nodiscard]] std::string excerpt(const json::value& value);

// same() tells whether two values are equal as JSON, with numbers equal within a millionth.
// matches() does the same, but if both values are objects, it ignores fields of `found` that
// `wanted` does not have; objects inside of them must still be equal.
[[nodiscard]] bool matches(const json::value& wanted, const json::value& found);
[[nodiscard]] bool same(const json::value& wanted, const json::value& found);

// Applies a JSON merge patch (RFC 7386) to `target`.
void merge_patch(json::value& target, const json::value& patch);

// The names as a JSON array in alphabetical order.
[[nodiscard]] json::array sorted_array(std::vector<std::string> names);
// The value as JSON text, for differences.
[[nodiscard]] std::string shown(const json::value& value);

}  // namespace holdfast::cases
