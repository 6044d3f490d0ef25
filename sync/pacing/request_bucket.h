// A token bucket that limits how fast a client sends. Waiters are served in FIFO order: each call
// to take() reserves the next free token, now or in the future.
//
// Pure: time is an argument and must not run backwards.

#pragma once

#include "platform/time.h"

namespace holdfast::sync::pacing {

class RequestBucket {
 public:
  // Allows `qps` requests per second on average and `burst` requests at once; both must be above
  // zero. Starts full.
  RequestBucket(double qps, int burst);

  // Reserves the next token. Returns when it may be used, `now` or later.
  [[nodiscard]] MonoTime take(MonoTime now);

  // The server asked for a pause: no token may be used before `until`, including reserved ones,
  // whose holders must check held_until().
  void hold(MonoTime until);
  [[nodiscard]] MonoTime held_until() const { return held_until_; }

  // Used share of the bucket: 0 if all tokens are free, 1 if none is.
  [[nodiscard]] double saturation(MonoTime now) const;

 private:
  Duration interval_;  // time in which one token is refilled
  Duration depth_;     // time in which the whole bucket is refilled
  // When the bucket will be full again if no token is taken. It is empty `depth_` before that.
  MonoTime full_at_ = MonoTime::min();
  MonoTime held_until_ = MonoTime::min();
};

}  // namespace holdfast::sync::pacing
