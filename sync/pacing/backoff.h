// Computes how long to wait before the next attempt: exponential backoff with full jitter, so that
// a thousand edge nodes that lost the same server do not return in the same second. Pure.

#pragma once

#include "platform/random.h"
#include "platform/time.h"

namespace holdfast::sync::pacing {

// The defaults are those of client-go's reflectors.
struct BackoffConfig {
  Duration initial = std::chrono::milliseconds(800);  // > 0
  Duration most = std::chrono::seconds(30);           // upper bound; >= initial
  double factor = 2.0;                                // >= 1
  // If next() was not called for so long, the wait starts at `initial` again.
  Duration reset_after = std::chrono::minutes(2);

  bool operator==(const BackoffConfig&) const = default;
};

class Backoff {
 public:
  explicit Backoff(const BackoffConfig& config);

  // The next wait: uniform in [0, d]. d starts at `initial` and grows by `factor` with each call,
  // up to `most`.
  [[nodiscard]] Duration next(MonoTime now, Random& random);
  // Starts at `initial` again.
  void reset();

 private:
  BackoffConfig config_;
  Duration bound_;  // d of the next call
  MonoTime called_at_ = MonoTime::min();
};

}  // namespace holdfast::sync::pacing
