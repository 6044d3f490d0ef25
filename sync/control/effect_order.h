// The order in which the effects of a controller are performed.

#pragma once

#include <cstddef>
#include <string>

namespace holdfast::sync::control {

inline constexpr std::size_t urgencies = 6;

struct EffectOrder {
  std::size_t urgency = 0;  // below `urgencies`; 0 is performed first
  std::string object;       // never written by two effects at once; empty: no object
  bool is_report = false;   // an event, which may be dropped if too many wait
};

}  // namespace holdfast::sync::control
