#include "sync/pacing/request_bucket.h"

#include <algorithm>

#include "platform/check.h"

namespace holdfast::sync::pacing {
namespace {

Duration interval_of(double qps) {
  CHECK(qps > 0);
  return std::chrono::ceil<Duration>(std::chrono::duration<double>(1 / qps));
}

}  // namespace

RequestBucket::RequestBucket(double qps, int burst)
    : interval_(interval_of(qps)), depth_(interval_ * burst) {
  CHECK(burst > 0);
}

MonoTime RequestBucket::take(MonoTime now) {
  full_at_ = std::max(full_at_, now) + interval_;
  return std::max({now, full_at_ - depth_, held_until_});
}

void RequestBucket::hold(MonoTime until) { held_until_ = std::max(held_until_, until); }

double RequestBucket::saturation(MonoTime now) const {
  if (full_at_ <= now) return 0;
  const std::chrono::duration<double> missing = full_at_ - now;
  return std::min(1.0, missing / std::chrono::duration<double>(depth_));
}

}  // namespace holdfast::sync::pacing
