#include "platform/http/h2/receive_window.h"

#include <algorithm>
#include <utility>

#include "platform/check.h"

namespace holdfast::http::h2 {

ReceiveWindow::ReceiveWindow(const ReceiveWindowLimits& limits)
    : limits_(limits), bytes_(limits.first) {
  CHECK(limits.least > 0 && limits.least <= limits.first && limits.first <= limits.most);
  CHECK(limits.delay_max > Duration::zero());
}

bool ReceiveWindow::received(MonoTime now, std::size_t count) {
  if (pinged_at_) {
    arrived_ += count;
    // The path may have become so slow that the answer takes minutes.
    if (idle_round_trip_) shrink(now - *pinged_at_);
    return false;
  }
  unmeasured_ += count;
  const bool is_first = !idle_round_trip_;
  if (!is_first && (unmeasured_ < limits_.unmeasured || now < next_ping_)) return false;
  pinged_at_ = now;
  bytes_then_ = bytes_;
  unmeasured_ = 0;
  arrived_ = 0;
  return true;
}

void ReceiveWindow::answered(MonoTime now) {
  if (!pinged_at_) return;
  const Duration round_trip = now - *std::exchange(pinged_at_, std::nullopt);
  idle_round_trip_ = std::min(round_trip, idle_round_trip_.value_or(round_trip));
  const Duration delay = round_trip - *idle_round_trip_;
  shrink(round_trip);
  // At half the delay it would not be clear that twice the window still fits.
  const bool is_used = arrived_ >= bytes_then_ / 2;
  const bool grows = delay < limits_.delay_max / 4 && is_used && bytes_ < limits_.most;
  if (grows) bytes_ = std::min(limits_.most, std::max(bytes_, bytes_then_ * 2));
  next_ping_ = now + (grows ? Duration::zero() : limits_.pause);
}

void ReceiveWindow::shrink(Duration round_trip) {
  const Duration longest = *idle_round_trip_ + limits_.delay_max;
  if (round_trip <= longest) return;
  const std::chrono::duration<double> is = round_trip;
  const double part = std::chrono::duration<double>(longest) / is;
  const auto fitting = static_cast<std::uint32_t>(bytes_then_ * part);
  bytes_ = std::min(bytes_, std::max(limits_.least, fitting));
}

}  // namespace holdfast::http::h2
