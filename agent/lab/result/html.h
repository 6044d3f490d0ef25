// Builds small pieces of HTML and SVG, with all text escaped.

#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace holdfast::agent::lab {

// Escapes text and attribute values.
[[nodiscard]] std::string escape_html(std::string_view text);

// A number with at most one decimal, which is precise enough for SVG.
[[nodiscard]] std::string decimal(double number);

using Attributes = std::initializer_list<std::pair<std::string_view, std::string>>;

// <name a="b">inner</name>; `inner` is markup, the attribute values are text.
[[nodiscard]] std::string element(std::string_view name, const Attributes& attributes,
                                  const std::string& inner = {});

}  // namespace holdfast::agent::lab
