// Runs a daemon: one io_context on one thread, with graceful termination.
//
// SIGTERM or SIGINT asks the program to stop. It then has `drain_limit` to finish work in progress.
// A second signal ends the process at once. SIGPIPE is ignored.

#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <functional>

#include "platform/loop/event.h"

namespace holdfast::loop {

// How long a program may take to stop: less than systemd's stop timeout, but enough for a slow
// response.
inline constexpr Duration drain_limit = std::chrono::seconds(5);

// Tells the program that it was asked to stop. Threading: the loop's thread only.
class Stop {
 public:
  explicit Stop(asio::any_io_executor executor) : changed_(std::move(executor)) {}

  [[nodiscard]] bool requested() const { return requested_; }
  void request();
  // Returns when stop was requested.
  asio::awaitable<void> wait();

 private:
  bool requested_ = false;
  Event changed_;
};

// A program's main coroutine; its result is the process's exit code. All its tasks must have ended
// when it returns.
using Program = std::function<asio::awaitable<int>(Stop&)>;

// Runs `program` to its end on this thread, on a loop with `clock`, and returns its exit code. An
// exception that leaves `program` is rethrown.
[[nodiscard]] int run(const Clock& clock, const Program& program);

}  // namespace holdfast::loop
