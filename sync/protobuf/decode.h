// Kubernetes objects from protobuf, for the kinds that are watched in it.
//
// The result equals that of decoding the object's JSON without untouched and managed fields: such
// an object must never be written back. As strict: text must be UTF-8, and a known field must have
// its type.

#pragma once

#include <string_view>

#include "platform/result.h"
#include "sync/model/node.h"
#include "sync/model/pod.h"
#include "sync/model/workload.h"

namespace holdfast::sync {

// `bytes` are the object's, in the envelope or without (an item of a list). The kind that the
// envelope names must be the object's. T is Node, Lease, Pod or DaemonSet.
// Errors: invalid, naming the field ("Pod: spec.tolerations[2].key: invalid UTF-8") or the byte of
// the object.
template <class T>
[[nodiscard]] Result<T> decode_protobuf(std::string_view bytes);

template <>
Result<Node> decode_protobuf<Node>(std::string_view bytes);
template <>
Result<Lease> decode_protobuf<Lease>(std::string_view bytes);
template <>
Result<Pod> decode_protobuf<Pod>(std::string_view bytes);
template <>
Result<DaemonSet> decode_protobuf<DaemonSet>(std::string_view bytes);

}  // namespace holdfast::sync
