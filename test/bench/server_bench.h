// Measures an API server with requests of many clients at once: creates, updates and deliveries of
// watches per second, and the server's memory and CPU time. The same for every API server.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>
#include <vector>

#include "platform/loop/program.h"

namespace holdfast::bench {

struct ServerBenchSettings {
  std::string kubeconfig;  // of an administrator
  std::vector<int> pids;   // of the server's processes; their memory and CPU time are added up
  int objects = 50'000;
  int updates = 10'000;
  int watched = 2'000;  // updates with watchers
  int watchers = 20;
  int at_once = 32;  // requests under way
};

// Creates ConfigMaps in the namespace "default", updates some of them, and prints the figures as
// one line of JSON. Returns the program's exit code.
[[nodiscard]] boost::asio::awaitable<int> measure_server(ServerBenchSettings settings);

}  // namespace holdfast::bench
