// Which form of an answer a client wants: the Accept header.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace holdfast::sync {

enum class Form : std::uint8_t { object, table, metadata };

// The first form of the header that we have, in the client's order of preference; nothing: 406.
// JSON is the encoding that all have; other forms of it are meta.k8s.io/v1's Table and
// PartialObjectMetadata(List).
[[nodiscard]] std::optional<Form> negotiate(std::string_view accept);

// Whether it likes Kubernetes' protobuf best, and takes JSON where there is none.
[[nodiscard]] bool prefers_protobuf(std::string_view accept);

}  // namespace holdfast::sync
