// A made-up history of a run in which everything worked. Each test changes one thing in it.

#pragma once

#include "agent/lab/demo/checks.h"

namespace holdfast::agent::demo {

inline DemoTime at(int seconds) { return std::chrono::seconds(seconds); }

// The times of the actions: cut 10, agent killed 12, back 13, pod killed 14, restored 30, ended 40;
// in the second act: open 42, site cut 44, all cut 54, all dark 60, restored 66, closed 70.
[[nodiscard]] History good_run();

// The pod a1 on edge-a is the one that is killed.
[[nodiscard]] DemoSetup good_setup();

}  // namespace holdfast::agent::demo
