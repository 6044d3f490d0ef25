// Measures how fast holdfast-cloud's scheduler binds waiting pods, with the lab's API server.

#pragma once

#include <boost/asio/awaitable.hpp>

#include "platform/loop/program.h"

namespace holdfast::bench {

// Prints a table. Returns 1 if a program did not start or the budget is exceeded, else 0.
boost::asio::awaitable<int> measure_scheduler(loop::Stop& stop);

}  // namespace holdfast::bench
