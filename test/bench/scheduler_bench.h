// holdfast-cloud's scheduler against the lab's API server: how fast waiting pods are bound.

#pragma once

#include <boost/asio/awaitable.hpp>

#include "platform/loop/program.h"

namespace holdfast::bench {

// Prints a table. Answers 1 when something did not come up, or the budget is exceeded.
boost::asio::awaitable<int> measure_scheduler(loop::Stop& stop);

}  // namespace holdfast::bench
