// What a node feels of holdfast-edge: memory, latencies, outages, and what an idle hour costs.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <filesystem>

#include "platform/result.h"

namespace holdfast::bench {

// Prints a table beside the budgets and YurtHub's figures. `data` is an existing directory.
boost::asio::awaitable<Status> measure_edge(std::filesystem::path data);

// The same of an hour in which nothing happens but a kubelet's heartbeats, in virtual time: bytes
// on the uplink and on the flash. Blocks; not from within a loop.
void measure_idle_hour();

}  // namespace holdfast::bench
