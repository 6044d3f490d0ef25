// Kubernetes objects to JSON and back, for every kind in types.h.
//
// Strict about the types of the fields that we have members for, naming the path
// ("spec.taints[2].effect: expected a string"), and lenient about all others: those travel in
// `untouched`, at every level. As in Go, null means absent and `encode` leaves out what upstream
// leaves out. Members come first, in upstream's order, then the untouched fields.

#pragma once

#include <string>
#include <string_view>

#include "sync/api/json.h"
#include "sync/api/types.h"

namespace holdfast::sync {

struct DecodeOptions {
  bool keep_untouched = true;       // false: such an object must never be written back
  bool keep_managed_fields = true;  // false: the server fills them in again at a write
};

// T is any type of types.h that has a `kind`. The object's own kind may be missing (an item of a
// list) but must not be another one.
// Errors: invalid.
template <class T>
[[nodiscard]] Result<T> decode(const json::value& value, const DecodeOptions& options = {});

// From bytes. Errors: those of parse_json, too.
template <class T>
[[nodiscard]] Result<T> decode_bytes(std::string_view bytes, const DecodeOptions& options = {});

// With kind and apiVersion in front.
template <class T>
[[nodiscard]] json::object encode(const T& object);

template <class T>
[[nodiscard]] std::string encode_bytes(const T& object) {
  return serialize(encode(object));
}

// Parts of objects, for building patches and writing tests.
[[nodiscard]] json::value encode_taints(const std::vector<Taint>& taints);
[[nodiscard]] json::object encode_part(const ObjectMeta& metadata);
[[nodiscard]] json::object encode_part(const NodeCondition& condition);
[[nodiscard]] json::object encode_part(const PodCondition& condition);
[[nodiscard]] json::object encode_part(const NodeStatus& status);
[[nodiscard]] json::object encode_part(const PodSpec& spec);
[[nodiscard]] json::object encode_part(const PodStatus& status);
[[nodiscard]] Result<LabelSelector> decode_label_selector(const json::value& value);

}  // namespace holdfast::sync
