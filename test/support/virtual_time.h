// Runs a loop with real sockets on loopback in virtual time: minutes pass in milliseconds.
//
// Time stands still while anything can be done, and then moves in steps; all timers of the loop
// follow it. Bytes to ourselves arrive at once, so a loop with nothing to do has nothing under way.
// Threading: one at a time in a process.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <functional>

#include "platform/time.h"

namespace holdfast::test {

namespace asio = boost::asio;

class VirtualClock final : public Clock {
 public:
  [[nodiscard]] MonoTime mono() const override { return mono_; }
  [[nodiscard]] WallTime wall() const override { return wall_; }
  void advance(Duration duration) {
    mono_ += duration;
    wall_ += duration;
  }
  // Somebody sets the calendar, or the machine slept.
  void jump_wall(Duration duration) { wall_ += duration; }

 private:
  MonoTime mono_{std::chrono::hours(1)};
  WallTime wall_{std::chrono::seconds(1'420'113'600)};  // 2015-01-01T12:00:00Z
};

class VirtualTime {
 public:
  VirtualTime();
  ~VirtualTime();
  VirtualTime(const VirtualTime&) = delete;
  VirtualTime& operator=(const VirtualTime&) = delete;

  [[nodiscard]] VirtualClock& clock() { return clock_; }
  [[nodiscard]] asio::io_context& context() { return context_; }
  [[nodiscard]] asio::any_io_executor executor() { return context_.get_executor(); }

  // Does all that can be done now, without time passing.
  void settle();
  void run(Duration duration);
  // Runs until `done`; false when `limit` came first.
  bool run_until(Duration limit, const std::function<bool()>& done);
  // Runs `task` to its end, at most for ten minutes.
  void complete(asio::awaitable<void> task);

 private:
  void step(MonoTime end);

  VirtualClock clock_;
  asio::io_context context_{1};
};

}  // namespace holdfast::test
