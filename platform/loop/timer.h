// Timers that follow their loop's clock, and the conversion of Asio's errors to Error.

#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/error_code.hpp>
#include <compare>
#include <utility>

#include "platform/loop/clock.h"
#include "platform/result.h"
#include "platform/time.h"

namespace holdfast::loop {

namespace asio = boost::asio;

// When a timer is due, by its loop's clock. Asio asks a clock type for the time through a static
// function, which cannot know the loop. So that function returns a marker, and the marker takes its
// time from the clock of the timer with which it is compared.
class DueTime {
 public:
  // The marker: now.
  constexpr DueTime() = default;
  DueTime(MonoTime at, const LoopClock& clock) : at_(at), is_now_(false), clock_(&clock) {}

  static constexpr DueTime(min)() { return DueTime(MonoTime::min()); }
  static constexpr DueTime(max)() { return DueTime(MonoTime::max()); }

  friend Duration operator-(const DueTime& a, const DueTime& b) {
    if (b.is_now_ && a.clock_ != nullptr) return a.clock_->left_until(a.at_);
    if (a.is_now_ && b.clock_ != nullptr) return -b.clock_->left_until(b.at_);
    return a.at_ - b.at_;
  }
  friend std::strong_ordering operator<=>(const DueTime& a, const DueTime& b) {
    return a.beside(b) <=> b.beside(a);
  }
  friend bool operator==(const DueTime& a, const DueTime& b) { return (a <=> b) == 0; }

 private:
  explicit constexpr DueTime(MonoTime at) : at_(at), is_now_(false) {}
  [[nodiscard]] MonoTime beside(const DueTime& other) const {
    return is_now_ && other.clock_ != nullptr ? other.clock_->clock().mono() : at_;
  }

  MonoTime at_{};
  bool is_now_ = true;
  const LoopClock* clock_ = nullptr;
};

// The loop's clock in the form in which Asio's timers take one.
struct TimerClock : MonoTag {
  using time_point = DueTime;
  [[nodiscard]] static time_point now() { return {}; }
};

// An Asio timer by the loop's clock.
class Timer {
 public:
  Timer(const asio::any_io_executor& executor, MonoTime due)
      : clock_(&LoopClock::of(asio::query(executor, asio::execution::context))),
        timer_(executor, DueTime(due, *clock_)) {}

  // Sets a new due time and cancels the waits. Returns how many were pending.
  std::size_t expires_at(MonoTime due) { return timer_.expires_at(DueTime(due, *clock_)); }
  // Returns the number of waits that were pending.
  std::size_t cancel() { return timer_.cancel(); }

  template <class Token>
  auto async_wait(Token&& token) {
    return timer_.async_wait(std::forward<Token>(token));
  }

 private:
  const LoopClock* clock_;
  asio::basic_waitable_timer<TimerClock> timer_;
};

// Makes an await return an error code instead of throwing. `ec` is a named variable so that no
// temporary with a destructor lives across a co_await (a bug of GCC 12). Pass it to
// leave_if_cancelled() next (cancellation.h).
inline auto into(boost::system::error_code& ec) {
  return asio::redirect_error(asio::use_awaitable, ec);
}

// Converts an Asio or system error; `what` says what was attempted.
[[nodiscard]] Error to_error(const boost::system::error_code& ec, std::string what);

// Waits until `time`, by the loop's clock; returns at once if it has passed.
asio::awaitable<void> sleep_until(MonoTime time);
asio::awaitable<void> wait_for(Duration duration);

}  // namespace holdfast::loop
