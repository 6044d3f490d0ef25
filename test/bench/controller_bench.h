// Measures holdfast-cloud under the load of a large cluster, with its budgets and the figures of
// kube-controller-manager.

#pragma once

#include <boost/asio/awaitable.hpp>

#include "platform/loop/program.h"

namespace holdfast::bench {

// Prints a table. Returns 1 if a program did not start or a budget is exceeded, else 0.
boost::asio::awaitable<int> measure_controller(loop::Stop& stop);

}  // namespace holdfast::bench
