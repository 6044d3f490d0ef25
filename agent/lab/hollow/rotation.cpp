#include "agent/lab/hollow/rotation.h"

#include "platform/check.h"

namespace holdfast::agent::hollow {

Rotation::Rotation(std::uint32_t count, MonoTime start, Duration interval, bool spread)
    : count_(count), interval_(interval), spread_(spread), round_(start) {
  CHECK(interval > Duration::zero());
}

MonoTime Rotation::next() const {
  if (count_ == 0) return MonoTime::max();
  // Divided first: an interval of days times a hundred thousand nodes does not fit.
  return spread_ ? round_ + interval_ / count_ * turn_ : round_;
}

std::optional<std::uint32_t> Rotation::take(MonoTime now) {
  if (now < next()) return std::nullopt;
  const Duration late = now - next();
  if (late > interval_) round_ += interval_ * (late / interval_);
  const std::uint32_t node = turn_;
  if (++turn_ == count_) {
    turn_ = 0;
    round_ += interval_;
  }
  return node;
}

}  // namespace holdfast::agent::hollow
