#include "platform/loop/timer.h"

#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/this_coro.hpp>

#include "platform/loop/cancellation.h"

namespace holdfast::loop {
namespace {

Errc word_for(const boost::system::error_code& ec) {
  if (ec == asio::error::operation_aborted) return Errc::cancelled;
  if (ec == asio::error::timed_out) return Errc::timeout;
  if (ec == asio::error::no_descriptors || ec == asio::error::no_memory) return Errc::exhausted;
  if (ec == asio::error::access_denied) return Errc::denied;
  return Errc::unavailable;
}

}  // namespace

Error to_error(const boost::system::error_code& ec, std::string what) {
  return Error{word_for(ec), std::move(what) + ": " + ec.message(), ec};
}

asio::awaitable<void> sleep_until(MonoTime time) {
  Timer timer(co_await asio::this_coro::executor, time);
  boost::system::error_code ec;
  co_await timer.async_wait(into(ec));
  leave_if_cancelled(ec, co_await asio::this_coro::cancellation_state);
}

asio::awaitable<void> wait_for(Duration duration) {
  const Clock& clock = clock_of(co_await asio::this_coro::executor);
  co_await sleep_until(clock.mono() + duration);
}

}  // namespace holdfast::loop
