// A daemon's frame: one io_context on one thread, and an orderly stop.
//
// SIGTERM or SIGINT asks the program to stop; it then has `drain_limit` to finish what is under
// way. A second signal ends the process at once. SIGPIPE is ignored.

#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <chrono>
#include <functional>

#include "platform/loop/event.h"

namespace holdfast::loop {

// How long a program may take to stop: less than systemd's patience, enough for a slow answer.
inline constexpr Duration drain_limit = std::chrono::seconds(5);

// Whether the program was asked to end.
class Stop {
 public:
  explicit Stop(asio::any_io_executor executor) : changed_(std::move(executor)) {}

  [[nodiscard]] bool requested() const { return requested_; }
  void request();
  // Returns once stop was requested.
  asio::awaitable<void> wait();

 private:
  bool requested_ = false;
  Event changed_;
};

// A program's body; what it returns is the process's exit code. It must not keep tasks running
// past its end.
using Program = std::function<asio::awaitable<int>(Stop&)>;

// Runs `program` to its end on this thread.
[[nodiscard]] int run(const Program& program);

}  // namespace holdfast::loop
