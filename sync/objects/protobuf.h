// Converts Kubernetes' protobuf to JSON by the schema's field numbers. kubectl and kubelets send
// it. protobuf_write.h converts in the other direction.

#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>

#include "platform/result.h"
#include "sync/model/schema.h"

namespace holdfast::sync::objects {

// The content of an object's envelope ("k8s\0", then kind and object).
struct ProtobufObject {
  std::string api_version;
  std::string kind;
  std::string bytes;  // the object itself
};

// Errors: invalid (not an envelope).
[[nodiscard]] Result<ProtobufObject> unwrap_protobuf(std::string_view body);

// All known fields that are present, zero or not; shape() makes an object of them.
// Errors: invalid (broken or nested too deep).
[[nodiscard]] Result<boost::json::object> read_protobuf(const StructType& type,
                                                        std::string_view bytes);

// Converts an object in its envelope to the JSON of a typed server: kind and apiVersion first, then
// known fields in upstream's order. Errors: invalid (broken; a kind that is not in the schema).
[[nodiscard]] Result<boost::json::object> object_of_protobuf(std::string_view enveloped);
[[nodiscard]] Result<std::string> json_of_protobuf(std::string_view enveloped);

}  // namespace holdfast::sync::objects
