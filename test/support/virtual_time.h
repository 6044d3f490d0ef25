// Runs an event loop in virtual time, with a network in memory: minutes pass in milliseconds.
//
// Time does not advance while any handler can run; then it advances in steps, and all timers of the
// loop follow it. Nothing on the loop opens a socket, so what happens does not depend on how quick
// or busy the machine is.
// Threading: one thread for each VirtualTime.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <functional>
#include <memory>

#include "platform/loop/timer.h"
#include "platform/net/memory_network.h"
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
  // Changes the wall clock: someone sets the calendar, or the machine was suspended.
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
  [[nodiscard]] net::MemoryNetwork& network() { return network_; }
  [[nodiscard]] asio::io_context& context() { return context_; }
  [[nodiscard]] asio::any_io_executor executor() { return context_.get_executor(); }

  // Runs all handlers that are ready, without advancing the time.
  void settle();
  // Runs one handler; if none is ready, advances the time to the next timer instead.
  void run_one();
  void run(Duration duration);
  // Runs until `done` returns true; false if `limit` passed first.
  bool run_until(Duration limit, const std::function<bool()>& done);
  // Runs `task` to its end, for at most ten minutes.
  void complete(asio::awaitable<void> task);

 private:
  void step(MonoTime end);
  void advance(MonoTime end);

  VirtualClock clock_;
  net::MemoryNetwork network_;
  asio::io_context context_{1};
  std::unique_ptr<loop::Timer> nudge_;
};

}  // namespace holdfast::test
