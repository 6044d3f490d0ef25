#include "platform/loop/timer.h"

#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/this_coro.hpp>

#include "platform/loop/cancellation.h"

namespace holdfast::loop {
namespace {

thread_local const Clock* followed = nullptr;
thread_local MonoTime earliest = MonoTime::max();  // set only while a clock is followed

Errc word_for(const boost::system::error_code& ec) {
  if (ec == asio::error::operation_aborted) return Errc::cancelled;
  if (ec == asio::error::timed_out) return Errc::timeout;
  if (ec == asio::error::no_descriptors || ec == asio::error::no_memory) return Errc::exhausted;
  if (ec == asio::error::access_denied) return Errc::denied;
  return Errc::unavailable;
}

}  // namespace

MonoTime in(Duration duration) { return BootClock::now() + duration; }

BootClock::time_point BootClock::now() {
  return followed != nullptr ? followed->mono() : SystemClock().mono();
}

void BootClock::follow(const Clock* clock) {
  followed = clock;
  earliest = MonoTime::max();
}

BootClock::time_point BootClock::next_due() { return earliest; }

Duration BootWait::to_wait_duration(const Duration& left) {
  if (followed != nullptr) earliest = BootClock::now() + left;
  return left;
}

Duration BootWait::to_wait_duration(const MonoTime& due) {
  return to_wait_duration(due - BootClock::now());
}

Error to_error(const boost::system::error_code& ec, std::string what) {
  return Error{word_for(ec), std::move(what) + ": " + ec.message(), ec};
}

asio::awaitable<void> sleep_until(MonoTime time) {
  Timer timer(co_await asio::this_coro::executor, time);
  boost::system::error_code ec;
  co_await timer.async_wait(into(ec));
  leave_if_cancelled(ec, co_await asio::this_coro::cancellation_state);
}

}  // namespace holdfast::loop
