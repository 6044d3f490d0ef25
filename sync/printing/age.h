// Ages for people, as kubectl prints them: "9s", "5m3s", "2d4h", "<unknown>".

#pragma once

#include <boost/json/value.hpp>
#include <string>

#include "platform/time.h"

namespace holdfast::sync::printing {

// At most two units, as upstream prints ages. "<invalid>" below -1 s.
[[nodiscard]] std::string human_duration(Duration duration);

// The time since `then`, at most a century in either direction: an object can contain times that
// are further apart than a Duration can be.
[[nodiscard]] Duration time_since(WallTime then, WallTime now);

// The age of an RFC 3339 time at `now`; "<unknown>" if `time` is nullptr, null or not a time.
[[nodiscard]] std::string age_of(const boost::json::value* time, WallTime now);

}  // namespace holdfast::sync::printing
