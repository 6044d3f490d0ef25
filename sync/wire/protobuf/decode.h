// Decodes Kubernetes objects from protobuf, for the kinds that are watched in protobuf.
//
// The result equals that of decoding the object's JSON without unknown and managed fields, so it
// must never be written back. Decoding is equally strict: text must be UTF-8, and known fields must
// have their type.

#pragma once

#include <string_view>

#include "platform/result.h"
#include "sync/model/node.h"
#include "sync/model/pod.h"
#include "sync/model/workload.h"

namespace holdfast::sync::wire {

// `bytes` is the object, with or without its envelope (items of a list have none). The kind in the
// envelope must be that of T. T is Node, Lease, Pod or DaemonSet.
// Errors: invalid, naming the field ("Pod: spec.tolerations[2].key: invalid UTF-8") or the offset
// in the object; exhausted (see parse.h).
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

}  // namespace holdfast::sync::wire
