// Checks the promise that all machines ask of their owners: `now` never runs backwards.

#pragma once

#include "platform/check.h"
#include "platform/time.h"

namespace holdfast::sync::pacing {

class Monotonic {
 public:
  // Call with each `now`. Aborts if it lies before the last one: a machine that sees time run
  // backwards would decide by intervals that are wrong.
  void check(MonoTime now) {
    CHECK(now >= last_);
    last_ = now;
  }

 private:
  MonoTime last_ = MonoTime::min();
};

}  // namespace holdfast::sync::pacing
