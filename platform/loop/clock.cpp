#include "platform/loop/clock.h"

#include <algorithm>
#include <boost/asio/query.hpp>

#include "platform/check.h"

namespace holdfast::loop {
namespace {

[[noreturn]] const Clock& clock_of_loop_without_one() {
  check_failed(__FILE__, __LINE__, "the loop was given no clock, see set_clock()");
}

}  // namespace

asio::execution_context::id LoopClock::id;

void set_clock(asio::execution_context& loop, const Clock& clock) {
  asio::make_service<LoopClock>(loop, clock);
}

const Clock& clock_of(const asio::any_io_executor& executor) {
  return LoopClock::of(asio::query(executor, asio::execution::context)).clock();
}

LoopClock::LoopClock(asio::execution_context& loop, const Clock& clock)
    : service(loop), clock_(clock) {}

LoopClock::LoopClock(asio::execution_context& loop)
    : service(loop), clock_(clock_of_loop_without_one()) {}

LoopClock& LoopClock::of(asio::execution_context& loop) {
  return asio::use_service<LoopClock>(loop);
}

Duration LoopClock::left_until(MonoTime due) const {
  next_due_ = due;
  // Every clock begins at 0 or later. The limit keeps the difference from overflowing.
  return std::max(due, MonoTime()) - clock_.mono();
}

}  // namespace holdfast::loop
