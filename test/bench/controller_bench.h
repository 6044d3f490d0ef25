// holdfast-cloud under the load of a large cluster, beside its budgets and kube-controller-manager.

#pragma once

#include <boost/asio/awaitable.hpp>

#include "platform/loop/program.h"

namespace holdfast::bench {

// Prints a table. Answers 1 when something did not come up, or a budget is exceeded.
boost::asio::awaitable<int> measure_controller(loop::Stop& stop);

}  // namespace holdfast::bench
