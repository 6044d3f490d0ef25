// How long ago something was, for people: "9s", "5m3s", "2d4h", "<unknown>".

#pragma once

#include <boost/json/value.hpp>
#include <string>

#include "platform/time.h"

namespace holdfast::sync {

// Two significant units at most, as upstream prints ages. "<invalid>" below -1 s.
[[nodiscard]] std::string human_duration(Duration duration);

// The age of an RFC 3339 text at `now`; "<unknown>" for null, nothing or nonsense.
[[nodiscard]] std::string age_of(const boost::json::value* time, WallTime now);

}  // namespace holdfast::sync
