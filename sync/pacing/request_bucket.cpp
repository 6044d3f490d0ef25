#include "sync/pacing/request_bucket.h"

#include <algorithm>

#include "platform/check.h"

namespace holdfast::sync::pacing {

RequestBucket::RequestBucket(MonoTime now, double qps, int burst)
    : tokens_(now, qps, {.capacity = static_cast<double>(burst)}) {
  CHECK(qps > 0 && burst > 0);
}

MonoTime RequestBucket::take(MonoTime now) {
  tokens_.spend(now, 1);
  // The time at which the reserved token will have been refilled.
  const std::chrono::duration<double> wait(std::max(0.0, -tokens_.level(now)) / tokens_.rate());
  return std::max(now + std::chrono::round<Duration>(wait), held_until_);
}

void RequestBucket::hold(MonoTime until) { held_until_ = std::max(held_until_, until); }

double RequestBucket::saturation(MonoTime now) const {
  return std::clamp(1 - tokens_.level(now) / tokens_.capacity(), 0.0, 1.0);
}

}  // namespace holdfast::sync::pacing
