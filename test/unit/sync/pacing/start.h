// The moment at which the tests of pacing begin.

#pragma once

#include "platform/time.h"

namespace holdfast::sync::pacing {

inline constexpr MonoTime start{};

}  // namespace holdfast::sync::pacing
