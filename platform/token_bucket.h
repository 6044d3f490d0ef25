// A token bucket: limits how often something may happen, or how much of it.
//
// Pure: time is an argument and must not run backwards.

#pragma once

#include "platform/time.h"

namespace holdfast {

struct BucketOptions {
  double capacity = 1;  // the most tokens that are saved up; above 0
  bool full = true;     // whether it starts with `capacity` tokens, or with none
};

class TokenBucket {
 public:
  // `rate` is in tokens per second; a bucket with a rate of zero or less is stopped: it gains no
  // tokens, and take() fails.
  TokenBucket(MonoTime now, double rate, const BucketOptions& options = {});

  // Takes a token. Returns whether there was one.
  [[nodiscard]] bool take(MonoTime now);

  // Takes `tokens`, even if there are fewer: the level may become negative.
  void spend(MonoTime now, double tokens);

  // The number of tokens at `now`; negative if more was spent than there was.
  [[nodiscard]] double level(MonoTime now) const;

  // The earliest time at which take() succeeds; MonoTime::max() if the bucket is stopped.
  [[nodiscard]] MonoTime next() const;

  [[nodiscard]] bool stopped() const { return rate_ <= 0; }
  [[nodiscard]] double rate() const { return rate_; }
  [[nodiscard]] double capacity() const { return capacity_; }

 private:
  double rate_;
  double capacity_;
  double tokens_;  // at `filled_at_`
  MonoTime filled_at_;
};

}  // namespace holdfast
