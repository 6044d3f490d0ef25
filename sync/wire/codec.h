// Encodes Kubernetes objects as JSON and decodes them, for every kind in types.h.
//
// Decoding is strict about the types of fields that have a C++ member; the error names the path
// ("spec.taints[2].effect: expected a string"). All other fields are kept in `unknown_fields`, at
// every level. As in Go, null means absent, and `encode` leaves out what upstream leaves out.
// Members come first, in upstream's order, then the unknown fields. All functions are pure.

#pragma once

#include <string>
#include <string_view>

#include "sync/model/types.h"
#include "sync/wire/json.h"

namespace holdfast::sync::wire {

struct DecodeOptions {
  bool keep_untouched = true;       // if false, the object must never be written back
  bool keep_managed_fields = true;  // if false, the server restores them on a write
};

// T is any type of types.h that has a `kind`. The object's own kind may be missing (as in an item
// of a list), but must not be a different one.
// Errors: invalid.
template <class T>
[[nodiscard]] Result<T> decode(const json::value& value, const DecodeOptions& options = {});

// Decodes from bytes. Errors: also those of parse_json().
template <class T>
[[nodiscard]] Result<T> decode_bytes(std::string_view bytes, const DecodeOptions& options = {});

// The object, beginning with kind and apiVersion.
template <class T>
[[nodiscard]] json::object encode(const T& object);

template <class T>
[[nodiscard]] std::string encode_bytes(const T& object) {
  return wire::serialize(encode(object));
}

// Encodes or decodes parts of objects, for building patches and for tests.
[[nodiscard]] json::value encode_taints(const std::vector<Taint>& taints);
[[nodiscard]] json::object encode_part(const ObjectMeta& metadata);
[[nodiscard]] json::object encode_part(const NodeCondition& condition);
[[nodiscard]] json::object encode_part(const PodCondition& condition);
[[nodiscard]] json::object encode_part(const NodeStatus& status);
[[nodiscard]] json::object encode_part(const PodSpec& spec);
[[nodiscard]] json::object encode_part(const PodStatus& status);
[[nodiscard]] Result<LabelSelector> decode_label_selector(const json::value& value);

}  // namespace holdfast::sync::wire
