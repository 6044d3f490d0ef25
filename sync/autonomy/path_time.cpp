#include "sync/autonomy/path_time.h"

#include <algorithm>

#include "platform/check.h"

namespace holdfast::sync::autonomy {

Duration first_answer_limit(std::size_t servers) {
  return servers == 1 ? heartbeat_limit_max : std::chrono::seconds(3);
}

PathTime::PathTime(Duration least, Duration unmeasured, Duration late_from)
    : least_(least),
      most_(std::max(least, std::min(least * 10, heartbeat_limit_max))),
      unmeasured_(std::clamp(unmeasured, least_, most_)),
      late_from_(late_from) {
  CHECK(least > Duration::zero());
}

void PathTime::answered(Duration took) {
  timeouts_ = 0;
  took = std::max(took, Duration::zero());
  late_answers_ = took < late_from_ ? 0 : std::min(late_answers_ + 1, 2);
  if (!smoothed_) {
    smoothed_ = took;
    deviation_ = took / 2;
    return;
  }
  const Duration error = *smoothed_ > took ? *smoothed_ - took : took - *smoothed_;
  deviation_ += (error - deviation_) / 4;
  *smoothed_ += (took - *smoothed_) / 8;
}

void PathTime::timed_out() {
  if (limit() < most_) ++timeouts_;
}

Duration PathTime::limit() const {
  Duration limit = smoothed_ ? least_ : unmeasured_;
  if (smoothed_) limit = std::max(limit, *smoothed_ + std::max(deviation_, *smoothed_) * 4);
  // Of a path that was measured, two timeouts are to show a fault soon.
  for (int i = smoothed_ ? 1 : 0; i < timeouts_ && limit < most_; ++i) limit *= 2;
  return std::min(limit, most_);
}

}  // namespace holdfast::sync::autonomy
