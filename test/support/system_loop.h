// An io_context whose timers follow the system's clock, for tests that run in real time.

#pragma once

#include <boost/asio/io_context.hpp>

#include "platform/loop/clock.h"

namespace holdfast::test {

namespace asio = boost::asio;

// A base class, so that it outlives the loop.
struct SystemLoopClock {
  SystemClock clock;
};

class SystemLoop : private SystemLoopClock, public asio::io_context {
 public:
  SystemLoop() : io_context(1) { loop::set_clock(*this, clock); }
};

}  // namespace holdfast::test
