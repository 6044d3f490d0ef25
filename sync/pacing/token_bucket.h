// A token bucket that holds at most one token: limits how often something may happen.

#pragma once

#include "platform/time.h"

namespace holdfast::sync::pacing {

class TokenBucket {
 public:
  // `rate` is in tokens per second; a bucket with a rate of zero or less is stopped and never gives
  // a token. A full bucket gives its first token at once.
  TokenBucket(MonoTime now, double rate, bool full = true);

  // Takes a token. Returns whether there was one. `now` must not run backwards.
  [[nodiscard]] bool take(MonoTime now);

  // The earliest time at which take() succeeds; MonoTime::max() if the bucket is stopped.
  [[nodiscard]] MonoTime next() const;

  [[nodiscard]] bool stopped() const { return rate_ <= 0; }
  [[nodiscard]] double rate() const { return rate_; }

 private:
  double rate_;
  double tokens_;
  MonoTime filled_at_;
};

}  // namespace holdfast::sync::pacing
