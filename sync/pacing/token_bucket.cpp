#include "sync/pacing/token_bucket.h"

#include <algorithm>

namespace holdfast::sync::pacing {
namespace {

double seconds_between(MonoTime from, MonoTime to) {
  return std::chrono::duration<double>(to - from).count();
}

}  // namespace

TokenBucket::TokenBucket(MonoTime now, double rate, bool full)
    : rate_(rate), tokens_(full ? 1.0 : 0.0), filled_at_(now) {}

bool TokenBucket::take(MonoTime now) {
  if (stopped()) return false;
  tokens_ = std::min(1.0, tokens_ + seconds_between(filled_at_, now) * rate_);
  filled_at_ = now;
  // A token that is due within a nanosecond counts, because rounded sums may never reach 1.
  if ((1.0 - tokens_) / rate_ >= 1e-9) return false;
  tokens_ = std::max(0.0, tokens_ - 1.0);
  return true;
}

MonoTime TokenBucket::next() const {
  if (stopped()) return MonoTime::max();
  const double wait = (1.0 - tokens_) / rate_;
  constexpr double longest = 1e9;  // seconds; about 30 years, so that the sum cannot overflow
  return filled_at_ +
         std::chrono::ceil<Duration>(std::chrono::duration<double>(std::min(wait, longest)));
}

}  // namespace holdfast::sync::pacing
