// A token bucket of capacity one: how often something may happen, measured in MonoTime.
//
// Starts full, so the first take succeeds. However long it waits, it saves up one token at most.

#pragma once

#include "platform/time.h"

namespace holdfast::sync::pacing {

class TokenBucket {
 public:
  // `rate` in tokens a second; zero or less never gives a token.
  TokenBucket(MonoTime now, double rate, bool full = true);

  // Whether there was a token; it is gone then. `now` must not run backwards.
  [[nodiscard]] bool take(MonoTime now);

  // When take() will succeed at the earliest; MonoTime::max() when stopped.
  [[nodiscard]] MonoTime next() const;

  [[nodiscard]] bool stopped() const { return rate_ <= 0; }
  [[nodiscard]] double rate() const { return rate_; }

 private:
  double rate_;
  double tokens_;
  MonoTime filled_at_;
};

}  // namespace holdfast::sync::pacing
