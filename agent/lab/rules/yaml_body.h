// Reads a request's body in YAML as JSON. JSON is YAML, too, and is read by the faster parser.

#pragma once

#include <boost/json/value.hpp>
#include <string_view>

#include "platform/result.h"

namespace holdfast::agent::lab {

struct YamlBodyLimits {
  std::size_t values = 200'000;
  std::size_t depth = 64;
};

// Reads one document. Plain words become null, booleans or numbers as in YAML 1.2's core schema.
// Errors: invalid with the line (not YAML, an alias, several documents),
// exhausted (over a limit).
[[nodiscard]] Result<boost::json::value> parse_yaml_body(std::string_view body,
                                                         const YamlBodyLimits& limits = {});

}  // namespace holdfast::agent::lab
