// A token bucket that limits how fast a client sends. Waiters are served in FIFO order: each call
// to take() reserves the next free token, now or in the future.
//
// Pure: time is an argument and must not run backwards.

#pragma once

#include "platform/time.h"
#include "platform/token_bucket.h"

namespace holdfast::sync::pacing {

class RequestBucket {
 public:
  // Allows `qps` requests per second on average and `burst` requests at once; both must be above
  // zero. Starts full.
  RequestBucket(MonoTime now, double qps, int burst);

  // Reserves the next token. Returns when it may be used, `now` or later.
  [[nodiscard]] MonoTime take(MonoTime now);

  // The server asked for a pause: no token may be used before `until`, including reserved ones,
  // whose holders must check held_until().
  void hold(MonoTime until);
  [[nodiscard]] MonoTime held_until() const { return held_until_; }

  // Used share of the bucket: 0 if all tokens are free, 1 if none is.
  [[nodiscard]] double saturation(MonoTime now) const;

 private:
  TokenBucket tokens_;
  MonoTime held_until_ = MonoTime::min();
};

}  // namespace holdfast::sync::pacing
