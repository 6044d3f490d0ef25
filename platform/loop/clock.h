// The clock of an event loop: timers and everything else that runs on the loop tell the time by it.
//
// The owner of a loop gives it a clock before anything runs on it: a program the system's, a test
// in virtual time its own. Code that has an executor reaches the clock through it. No state is kept
// outside the loop, so loops with different clocks can run side by side.

#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution_context.hpp>

#include "platform/time.h"

namespace holdfast::loop {

namespace asio = boost::asio;

// Gives `loop` its clock, once. `clock` is borrowed and must outlive the loop.
void set_clock(asio::execution_context& loop, const Clock& clock);

// The clock of the executor's loop, which must have one.
[[nodiscard]] const Clock& clock_of(const asio::any_io_executor& executor);

// The loop's clock as an Asio service. For Timer, and for code that advances a clock.
class LoopClock final : public asio::execution_context::service {
 public:
  using key_type = LoopClock;
  static asio::execution_context::id id;  // Asio finds the service by its address.

  LoopClock(asio::execution_context& loop, const Clock& clock);
  // Asio calls this if the loop was given no clock, which is a bug.
  explicit LoopClock(asio::execution_context& loop);

  [[nodiscard]] static LoopClock& of(asio::execution_context& loop);

  [[nodiscard]] const Clock& clock() const { return clock_; }

  // The time left until `due`. The loop asks this for its earliest timer before it waits.
  [[nodiscard]] Duration left_until(MonoTime due) const;
  // The `due` of the last left_until(). The timer may have been cancelled since.
  [[nodiscard]] MonoTime next_due() const { return next_due_; }

 private:
  void shutdown() override {}

  const Clock& clock_;
  mutable MonoTime next_due_ = MonoTime::max();
};

}  // namespace holdfast::loop
