// Asio timers on CLOCK_BOOTTIME, and the conversion of Asio's errors into ours.

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

// A Clock in Asio's form. Its time points are MonoTime.
struct BootClock : MonoTag {
  [[nodiscard]] static time_point now();
  // From now on every timer of this thread's loops goes by `clock`, which is borrowed; null: by the
  // system's again. For tests in virtual time: whoever moves such a clock wakes the timers himself.
  static void follow(const Clock* clock);
  // When the earliest timer of this thread's loop is due, as the loop saw it last; for whoever
  // moves such a clock. It may have been cancelled since.
  [[nodiscard]] static time_point next_due();
};

// Tells BootClock what the loop waits for.
struct BootWait {
  static Duration to_wait_duration(const Duration& left);
  static Duration to_wait_duration(const MonoTime& due);
};

using Timer = asio::basic_waitable_timer<BootClock, BootWait>;

// The moment `duration` from now, as deadlines want it.
[[nodiscard]] MonoTime in(Duration duration);

// Each await yields an error code rather than throwing; named so that no temporary with a
// destructor lives across a co_await (GCC 12).
inline auto into(boost::system::error_code& ec) {
  return asio::redirect_error(asio::use_awaitable, ec);
}

// Which of our words an Asio or system error is; `what` says what was tried.
[[nodiscard]] Error to_error(const boost::system::error_code& ec, std::string what);

// Waits until `time`; at once when it has passed. A cancelled task leaves by exception, at this
// or at its next await.
asio::awaitable<void> sleep_until(MonoTime time);

}  // namespace holdfast::loop
