// The view as JSON, for `holdfast-lab status -o json`. Pure.

#pragma once

#include "agent/lab/up/view.h"
#include "sync/wire/json.h"

namespace holdfast::agent::lab::up {

// Durations are in seconds.
[[nodiscard]] sync::json::object json_of(const View& view);

}  // namespace holdfast::agent::lab::up
