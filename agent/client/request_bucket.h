// How fast a client may send: a token bucket whose tokens are promised in the order of asking.
//
// Pure: time is an argument and must not run backwards.

#pragma once

#include "platform/time.h"

namespace holdfast::agent {

class RequestBucket {
 public:
  // `qps` requests a second in the long run, `burst` at once; both above zero. Starts full.
  RequestBucket(double qps, int burst);

  // Takes a token, now or in advance; when it may be used. Nobody who asks later is earlier.
  [[nodiscard]] MonoTime take(MonoTime now);

  // The server asked for a pause: nothing may be sent before `until`, promised or not.
  void hold(MonoTime until);
  [[nodiscard]] MonoTime held_until() const { return held_until_; }

  // 0: all tokens are there; 1: none is.
  [[nodiscard]] double saturation(MonoTime now) const;

 private:
  Duration interval_;  // of one token
  Duration depth_;     // of the whole bucket
  // When the bucket will be full again, if nobody takes anything: it is empty `depth_` before that.
  MonoTime full_at_ = MonoTime::min();
  MonoTime held_until_ = MonoTime::min();
};

}  // namespace holdfast::agent
