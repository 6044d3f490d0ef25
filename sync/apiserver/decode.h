// From a request's body to an object as we store it.

#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sync/apiserver/answer.h"
#include "sync/apiserver/resources.h"
#include "sync/schema/schema.h"

namespace holdfast::sync {

// What to do about fields that a kind does not have: drop them, say so, or refuse the object.
enum class FieldValidation : std::uint8_t { ignore, warn, strict };

// "", "Ignore", "Warn", "Strict". Refuses anything else with 400.
[[nodiscard]] Answer<FieldValidation> parse_field_validation(std::string_view text);

struct Decoded {
  boost::json::object object;
  std::vector<std::string> warnings;  // for the client: `unknown field "spec.x"`
};

// The body of a request as a value: JSON, or protobuf of that type. `kind` is what it should be.
// Refuses other media types with 415 and what cannot be read with 400.
[[nodiscard]] Answer<boost::json::value> read_body(std::string_view content_type,
                                                   std::string_view body, const StructType& type,
                                                   std::string_view kind);

// Shapes what a client sent as the resource's kind and converts it to the stored version, with
// defaults. Missing kind and apiVersion are the resource's own.
[[nodiscard]] Answer<Decoded> decode_object(const Resource& resource, const ServedVersion& version,
                                            const boost::json::value& value,
                                            FieldValidation validation);

// The same for a kind that is not stored: DeleteOptions, Scale, Binding. Nothing is defaulted.
[[nodiscard]] Answer<Decoded> decode_as(const StructType& type, std::string_view kind,
                                        const boost::json::value& value,
                                        FieldValidation validation);

// Defaults, and everything in its place.
[[nodiscard]] boost::json::object canonical(const Resource& resource, boost::json::object object);

}  // namespace holdfast::sync
