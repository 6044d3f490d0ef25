// The behaviours that cases name, as options of the rules.

#pragma once

#include <optional>
#include <string_view>

#include "sync/lifecycle/options.h"
#include "test/cases/fields.h"

namespace holdfast::cases {

// `variant` with a case's `config` laid over it; nothing for a variant that we do not know.
[[nodiscard]] std::optional<sync::lifecycle::Options> profile_of(std::string_view variant,
                                                                 const json::object& config);

// Who records events in that variant.
[[nodiscard]] std::string_view lifecycle_source(std::string_view variant);
[[nodiscard]] std::string_view eviction_source(std::string_view variant);

}  // namespace holdfast::cases
