// What the rooms of the agent take as settings, derived from its options.

#pragma once

#include "agent/edge/forward/uplink_settings.h"
#include "agent/edge/options/options.h"
#include "agent/edge/route/deadlines.h"
#include "sync/watch/cache_limits.h"

namespace holdfast::agent {

[[nodiscard]] sync::watch::CacheLimits cache_limits(const EdgeOptions& options);
[[nodiscard]] Deadlines deadlines(const EdgeOptions& options);
// Errors: invalid (the budget).
[[nodiscard]] Result<UplinkSettings> uplink_settings(const EdgeOptions& options);

}  // namespace holdfast::agent
