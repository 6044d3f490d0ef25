// Runs an event loop in virtual time, with a network in memory: minutes pass in milliseconds.
//
// Time does not advance while any handler can run; then it advances in steps, and all timers of the
// loop follow it. The loop has no sockets, no threads and always the same randomness, so what
// happens depends neither on chance nor on how quick or busy the machine is: a thread that has a
// VirtualTime ends the program if it opens a socket of the kernel. If handlers keep the time from
// advancing, a message says which tasks run, and at last the program ends; see Patience.
// Threading: one thread for each VirtualTime.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <functional>
#include <string>

#include "platform/net/memory_network.h"
#include "platform/time.h"

namespace holdfast::test {

namespace asio = boost::asio;

class VirtualClock final : public Clock {
 public:
  static constexpr MonoTime begin{std::chrono::hours(1)};

  [[nodiscard]] MonoTime mono() const override { return mono_; }
  [[nodiscard]] WallTime wall() const override { return wall_; }
  void advance(Duration duration) {
    mono_ += duration;
    wall_ += duration;
  }
  // Changes the wall clock: someone sets the calendar, or the machine was suspended.
  void jump_wall(Duration duration) { wall_ += duration; }

 private:
  MonoTime mono_ = begin;
  WallTime wall_{std::chrono::seconds(1'420'113'600)};  // 2015-01-01T12:00:00Z
};

// From now on every thread ends the program if it opens a socket of the kernel, as a thread that
// has a VirtualTime does. Returns true.
bool forbid_sockets();

// How long handlers may keep the time from advancing.
struct Patience {
  std::chrono::seconds warn_after{10};  // in real time
  std::chrono::seconds end_after{120};  // in CPU time of the thread; emulators are slow
};

class VirtualTime {
 public:
  explicit VirtualTime(const Patience& patience = {});
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
  // Runs `task` to its end. If it has not ended after ten minutes, names the tasks that run and
  // ends the program.
  void complete(asio::awaitable<void> task);
  // Runs until the loop is empty, with the limit and the message of complete().
  void finish();
  // The names of the tasks that run.
  [[nodiscard]] std::string tasks();

 private:
  void expect_in_time(const std::function<bool()>& done);
  void step(MonoTime end);
  void advance(MonoTime end);

  Patience patience_;
  VirtualClock clock_;
  net::MemoryNetwork network_;
  asio::io_context context_{1};
};

}  // namespace holdfast::test
