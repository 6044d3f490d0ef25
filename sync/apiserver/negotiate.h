// Chooses the form of a response from the Accept header.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace holdfast::sync {

enum class Form : std::uint8_t { object, table, metadata };

// The first supported form in the client's order of preference; nothing means 406. The encoding is
// JSON; other forms are Table and PartialObjectMetadata(List) of meta.k8s.io.
[[nodiscard]] std::optional<Form> negotiate(std::string_view accept);

// Whether the client prefers Kubernetes' protobuf to everything else.
[[nodiscard]] bool prefers_protobuf(std::string_view accept);

}  // namespace holdfast::sync
