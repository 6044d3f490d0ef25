// Translates the variants that cases name ("k8s-1.20", "openyurt") into options of the rules.

#pragma once

#include <optional>
#include <string_view>

#include "sync/lifecycle/options.h"
#include "test/cases/fields.h"

namespace holdfast::cases {

// The options of `variant`, changed as the case's `config` says; nullopt for an unknown variant.
[[nodiscard]] std::optional<sync::lifecycle::Options> profile_of(std::string_view variant,
                                                                 const json::object& config);

// The event sources of the lifecycle controller and of taint eviction in this variant.
[[nodiscard]] std::string_view lifecycle_source(std::string_view variant);
[[nodiscard]] std::string_view eviction_source(std::string_view variant);

}  // namespace holdfast::cases
