// `holdfast-lab demo`: starts a control plane, a controller and three edge agents as real
// processes, plays an outage, checks that the pods keep running, and writes a report.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>

#include "platform/loop/program.h"

namespace holdfast::agent::demo {

struct DemoSettings {
  std::string report = "build/report/demo.html";
  std::string data;  // empty: a temporary directory, kept only after a failure
};

// Runs the demo. Returns the exit code: 0 only if the script was completed and every check passed.
boost::asio::awaitable<int> run_demo(DemoSettings settings, loop::Stop& stop, const Clock& clock);

}  // namespace holdfast::agent::demo
