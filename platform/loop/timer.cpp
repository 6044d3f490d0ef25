#include "platform/loop/timer.h"

#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/this_coro.hpp>

namespace holdfast::loop {
namespace {

thread_local const Clock* followed = nullptr;

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

void BootClock::follow(const Clock* clock) { followed = clock; }

Error to_error(const boost::system::error_code& ec, std::string what) {
  return Error{word_for(ec), std::move(what) + ": " + ec.message(), ec};
}

asio::awaitable<void> sleep_until(MonoTime time) {
  Timer timer(co_await asio::this_coro::executor, time);
  boost::system::error_code ec;
  co_await timer.async_wait(into(ec));
}

}  // namespace holdfast::loop
