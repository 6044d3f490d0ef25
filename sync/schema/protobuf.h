// Kubernetes' protobuf, read into JSON by the schema's field numbers. kubectl and kubelets write in
// it. The way back is protobuf_write.h.

#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>

#include "platform/result.h"
#include "sync/schema/schema.h"

namespace holdfast::sync {

// The envelope that every object comes in: "k8s\0" and who is inside.
struct ProtobufObject {
  std::string api_version;
  std::string kind;
  std::string bytes;  // the object itself
};

// Errors: invalid (not an envelope).
[[nodiscard]] Result<ProtobufObject> unwrap_protobuf(std::string_view body);

// Every known field that is there, zero or not; shape() makes an object of it.
// Errors: invalid (broken or too deep).
[[nodiscard]] Result<boost::json::object> read_protobuf(const StructType& type,
                                                        std::string_view bytes);

// An object in its envelope as a typed server prints it: kind and apiVersion first, known fields in
// upstream's order. Errors: invalid (broken; a kind that the schema does not have).
[[nodiscard]] Result<boost::json::object> object_of_protobuf(std::string_view enveloped);
[[nodiscard]] Result<std::string> json_of_protobuf(std::string_view enveloped);

}  // namespace holdfast::sync
