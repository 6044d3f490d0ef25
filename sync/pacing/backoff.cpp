#include "sync/pacing/backoff.h"

#include <algorithm>

#include "platform/check.h"

namespace holdfast::sync::pacing {

Backoff::Backoff(const BackoffConfig& config) : config_(config), bound_(config.initial) {
  CHECK(config.initial > Duration::zero());
  CHECK(config.most >= config.initial);
  CHECK(config.factor >= 1.0);
}

Duration Backoff::next(MonoTime now, Random& random) {
  const bool called = called_at_ != MonoTime::min();
  if (called && now - called_at_ > config_.reset_after) bound_ = config_.initial;
  called_at_ = now;
  const Duration wait = random.jitter(bound_);
  const double grown = static_cast<double>(bound_.count()) * config_.factor;
  const double most = static_cast<double>(config_.most.count());
  bound_ = Duration(static_cast<Duration::rep>(std::min(grown, most)));
  return wait;
}

void Backoff::reset() {
  bound_ = config_.initial;
  called_at_ = MonoTime::min();
}

}  // namespace holdfast::sync::pacing
