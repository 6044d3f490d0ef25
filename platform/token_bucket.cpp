#include "platform/token_bucket.h"

#include <algorithm>

#include "platform/check.h"

namespace holdfast {

TokenBucket::TokenBucket(MonoTime now, double rate, const BucketOptions& options)
    : rate_(rate),
      capacity_(options.capacity),
      tokens_(options.full ? options.capacity : 0.0),
      filled_at_(now) {
  CHECK(capacity_ > 0);
}

double TokenBucket::level(MonoTime now) const {
  if (stopped()) return tokens_;
  CHECK(now >= filled_at_);
  const double gained = std::chrono::duration<double>(now - filled_at_).count() * rate_;
  return std::min(capacity_, tokens_ + gained);
}

bool TokenBucket::take(MonoTime now) {
  if (stopped()) return false;
  tokens_ = level(now);
  filled_at_ = now;
  // A token that is due within a nanosecond counts, because rounded sums may never reach 1.
  if ((1.0 - tokens_) / rate_ >= 1e-9) return false;
  tokens_ = std::max(0.0, tokens_ - 1.0);
  return true;
}

void TokenBucket::spend(MonoTime now, double tokens) {
  tokens_ = level(now) - tokens;
  filled_at_ = now;
}

MonoTime TokenBucket::next() const {
  if (stopped()) return MonoTime::max();
  const double wait = (1.0 - tokens_) / rate_;
  constexpr double longest = 1e9;  // seconds; about 30 years, so that the sum cannot overflow
  const std::chrono::duration<double> seconds(std::clamp(wait, 0.0, longest));
  return filled_at_ + std::chrono::ceil<Duration>(seconds);
}

}  // namespace holdfast
