// How long to wait before trying again: exponential, with full jitter, so that a thousand edges
// that lost the same server do not return in the same second.

#pragma once

#include "platform/random.h"
#include "platform/time.h"

namespace holdfast::sync {

// As client-go's reflectors have it.
struct BackoffConfig {
  Duration initial = std::chrono::milliseconds(800);  // > 0
  Duration most = std::chrono::seconds(30);           // >= initial
  double factor = 2.0;                                // >= 1
  Duration reset_after = std::chrono::minutes(2);     // of quiet; then the server counts as healthy

  bool operator==(const BackoffConfig&) const = default;
};

class Backoff {
 public:
  explicit Backoff(const BackoffConfig& config);

  // The next wait: uniform in [0, d], where d grows by the factor with each call up to `most`.
  [[nodiscard]] Duration next(MonoTime now, Random& random);
  void reset();

 private:
  BackoffConfig config_;
  Duration bound_;
  MonoTime called_at_ = MonoTime::min();
};

}  // namespace holdfast::sync
