// Converts a request's body to an object in stored form.

#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "agent/lab/rules/answer.h"
#include "sync/model/schema.h"
#include "sync/printing/resources.h"

namespace holdfast::agent::lab {

// How unknown fields of an object are handled: drop them, drop them with a warning, or refuse the
// object.
enum class FieldValidation : std::uint8_t { ignore, warn, strict };

// Parses "" (warn), "Ignore", "Warn" or "Strict". Anything else is refused with 400.
[[nodiscard]] Answer<FieldValidation> parse_field_validation(std::string_view text);

struct Decoded {
  boost::json::object object;
  std::vector<std::string> warnings;  // for the client: `unknown field "spec.x"`
};

// Parses the body of a request: JSON, or protobuf of `type`. `kind` is the expected kind, for
// errors. Other media types are refused with 415, malformed bodies with 400.
[[nodiscard]] Answer<boost::json::value> read_body(std::string_view content_type,
                                                   std::string_view body,
                                                   const sync::StructType& type,
                                                   std::string_view kind);

// Shapes a client's object as the resource's kind, converts it to the stored version and applies
// defaults. Missing kind and apiVersion are those of the resource.
[[nodiscard]] Answer<Decoded> decode_object(const sync::printing::Resource& resource,
                                            const sync::printing::ServedVersion& version,
                                            const boost::json::value& value,
                                            FieldValidation validation);

// Shapes an object of a kind that is not stored, such as DeleteOptions, Scale or Binding. No
// defaults are applied.
[[nodiscard]] Answer<Decoded> decode_as(const sync::StructType& type, std::string_view kind,
                                        const boost::json::value& value,
                                        FieldValidation validation);

// Applies defaults to a stored object and shapes it.
[[nodiscard]] boost::json::object canonical(const sync::printing::Resource& resource,
                                            boost::json::object object);

}  // namespace holdfast::agent::lab
