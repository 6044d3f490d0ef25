// `holdfast-lab demo`: cut the link, and the pods stay. A control plane, a controller and three
// agents as real processes, the story of an outage, and a report with a verdict.

#pragma once

#include <boost/asio/awaitable.hpp>
#include <string>

#include "platform/loop/program.h"

namespace holdfast::agent::demo {

struct DemoSettings {
  std::string report = "build/report/demo.html";
  std::string data;  // empty: a temporary directory, kept only when something failed
};

// Runs it; 0 only if the story was played to its end and every promise held.
boost::asio::awaitable<int> run_demo(DemoSettings settings, loop::Stop& stop);

}  // namespace holdfast::agent::demo
