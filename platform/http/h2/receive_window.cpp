#include "platform/http/h2/receive_window.h"

#include <algorithm>
#include <utility>

#include "platform/check.h"

namespace holdfast::http::h2 {

void AnswerSize::add(MonoTime now, std::size_t count) {
  if (now - begin_ > period) {
    previous_ = now - begin_ > 2 * period ? 0 : bytes_;
    begin_ = now;
    bytes_ = 0;
  }
  bytes_ += count;
}

bool AnswerSize::is_large(MonoTime now) const {
  constexpr std::size_t small = 4UL * 1024;
  const Duration age = now - begin_;
  return (age <= 2 * period && bytes_ > small) || (age <= period && previous_ > small);
}

ReceiveWindow::ReceiveWindow(const ReceiveWindowLimits& limits)
    : limits_(limits), bytes_(limits.first) {
  CHECK(limits.least > 0 && limits.least <= limits.first && limits.first <= limits.most);
  CHECK(limits.delay_max > Duration::zero());
}

std::uint32_t ReceiveWindow::of_stream(std::size_t large) const {
  const std::size_t share = bytes_ / std::max<std::size_t>(large, 1);
  return std::max(limits_.least / 2, static_cast<std::uint32_t>(share));
}

bool ReceiveWindow::received(MonoTime now, std::size_t count) {
  if (count > 0) sample(now, count);
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
  shrink(round_trip);
  next_ping_ = now + limits_.pause;
}

void ReceiveWindow::sample(MonoTime now, std::size_t count) {
  if (!sample_begin_) {
    sample_begin_ = now;
    return;
  }
  sampled_ += count;
  if (sampled_ < std::max<std::size_t>(bytes_, limits_.sample)) return;
  const std::chrono::duration<double> took = now - *std::exchange(sample_begin_, now);
  const auto arrived = static_cast<double>(std::exchange(sampled_, 0));
  if (!idle_round_trip_) return;
  const std::chrono::duration<double> longest = *idle_round_trip_ + limits_.delay_max;
  const std::uint32_t twice = std::min(bytes_, limits_.most / 2) * 2;
  const bool is_more_than_twice = arrived * longest.count() >= twice * took.count();
  const double fitting = is_more_than_twice ? twice : arrived * longest.count() / took.count();
  bytes_ = std::max(bytes_, static_cast<std::uint32_t>(fitting));
}

void ReceiveWindow::shrink(Duration round_trip) {
  const Duration longest = *idle_round_trip_ + limits_.delay_max;
  if (round_trip <= longest) return;
  const std::chrono::duration<double> is = round_trip;
  const double part = std::chrono::duration<double>(longest) / is;
  // More than the window may be on its way: HTTP/2 lets a server send 64 KiB at first, if several
  // answers begin at once.
  const auto on_its_way = static_cast<double>(std::max<std::size_t>(bytes_then_, arrived_));
  const auto fitting =
      static_cast<std::uint32_t>(std::min<double>(on_its_way * part, limits_.most));
  bytes_ = std::min(bytes_, std::max(limits_.least, fitting));
}

StreamWindow::StreamWindow(const ReceiveWindow& whole, std::uint32_t most)
    : whole_(whole), most_(most), bytes_(std::min(whole.of_stream(1), most)) {}

bool StreamWindow::share(MonoTime now, std::size_t large) {
  due_ = now + std::chrono::milliseconds(100);
  const std::uint32_t share = std::min(whole_.of_stream(large), most_);
  const std::uint32_t change = std::max(share, bytes_) - std::min(share, bytes_);
  const bool becomes_whole = share == most_ && change > 0;
  if (!becomes_whole && change <= bytes_ / 4) return false;
  bytes_ = share;
  return true;
}

}  // namespace holdfast::http::h2
