// A made-up run in which everything went well; tests spoil one thing at a time.

#pragma once

#include "agent/lab/demo/checks.h"

namespace holdfast::agent::demo {

inline At at(int seconds) { return std::chrono::seconds(seconds); }

// The times of the deeds: cut 10, agent killed 12, back 13, pod killed 14, restored 30, ended 40;
// of the second act: open 42, site cut 44, all cut 54, all dark 60, restored 66, closed 70.
[[nodiscard]] History good_run();

// edge-a's pod a1 was killed.
[[nodiscard]] Cast good_cast();

}  // namespace holdfast::agent::demo
