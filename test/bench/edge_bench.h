// Measures holdfast-edge: memory, latencies, outages, and the bytes of an idle hour.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <filesystem>

#include "platform/result.h"

namespace holdfast::bench {

class BenchProcesses;

// Prints a table with the budgets and YurtHub's figures. `data` is an existing directory.
boost::asio::awaitable<Status> measure_edge(std::filesystem::path data);

// The part of measure_edge() for a list that is too large for the agent's memory.
boost::asio::awaitable<Status> measure_large_list(BenchProcesses& processes);

// Prints the bytes on the uplink and on the flash of an hour with only a kubelet's heartbeats, in
// virtual time. Blocks; must not be called from within an event loop.
void measure_idle_hour();

}  // namespace holdfast::bench
