// The interface of every controller's machine: `step(now, input) -> {effects, deadline}`.
//
// A machine has no clock, timer, lock or socket. Its owner passes it every change and every
// outcome, performs the effects, and calls it with TimePassed at the deadline. `now` must not run
// backwards.

#pragma once

#include <string>
#include <vector>

#include "platform/time.h"

namespace holdfast::sync::control {

struct Now {
  MonoTime mono;
  WallTime wall;
};

// An object appeared or changed, as a watch delivers it. The same object may be delivered again
// unchanged. The reference is only valid during the step.
template <class T>
struct Changed {
  const T& object;
};

// An object was deleted.
template <class T>
struct Removed {
  std::string namespace_name;  // empty for kinds without namespaces
  std::string name;
};

// The deadline of the last step has passed.
struct TimePassed {};

// An effect was performed or abandoned. The references are only valid during the step.
template <class Effect, class Outcome>
struct Performed {
  const Effect& effect;
  const Outcome& outcome;
};

template <class Effect>
struct Step {
  std::vector<Effect> effects;
  MonoTime deadline = MonoTime::max();  // when TimePassed has something to do; max(): never
};

}  // namespace holdfast::sync::control
