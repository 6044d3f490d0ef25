// Asio timers on CLOCK_BOOTTIME, and the conversion of Asio's errors to Error.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/error_code.hpp>

#include "platform/result.h"
#include "platform/time.h"

namespace holdfast::loop {

namespace asio = boost::asio;

// CLOCK_BOOTTIME as a clock for Asio. Its time points are MonoTime.
struct BootClock : MonoTag {
  [[nodiscard]] static time_point now();
  // From now on all timers of this thread use `clock`, which is borrowed; null selects the system's
  // clock again. For tests in virtual time: the code that advances the clock must wake the timers.
  static void follow(const Clock* clock);
  // The due time of this thread's earliest timer, as its loop last computed it, for code that
  // advances such a clock. The timer may have been cancelled since.
  [[nodiscard]] static time_point next_due();
};

// Asio's wait traits; they report the time the loop waits for to BootClock.
struct BootWait {
  static Duration to_wait_duration(const Duration& left);
  static Duration to_wait_duration(const MonoTime& due);
};

using Timer = asio::basic_waitable_timer<BootClock, BootWait>;

// The time `duration` from now, for deadlines.
[[nodiscard]] MonoTime in(Duration duration);

// Makes an await return an error code instead of throwing. `ec` is a named variable so that no
// temporary with a destructor lives across a co_await (a bug of GCC 12). Pass it to
// leave_if_cancelled() next (cancellation.h).
inline auto into(boost::system::error_code& ec) {
  return asio::redirect_error(asio::use_awaitable, ec);
}

// Converts an Asio or system error; `what` says what was attempted.
[[nodiscard]] Error to_error(const boost::system::error_code& ec, std::string what);

// Waits until `time`; returns at once if it has passed.
asio::awaitable<void> sleep_until(MonoTime time);

}  // namespace holdfast::loop
