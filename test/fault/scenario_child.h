// A child process that runs a scenario until it is killed, and reports how far it got.

#pragma once

#include <cstddef>
#include <filesystem>

#include "test/fault/scenarios.h"
#include "test/support/fault_vfs.h"

namespace holdfast::store {

struct ScenarioResult {
  bool killed = false;    // by the plan; false if the scenario came to its end
  bool opened = false;    // the file was opened
  std::size_t steps = 0;  // acknowledged
};

// Forks. The child opens `file` on the fault VFS and follows `plan`. An error in the child fails
// the test.
[[nodiscard]] ScenarioResult run_in_child(const FaultScenarioKind& kind,
                                          const std::filesystem::path& file,
                                          const test::FaultPlan& plan);

}  // namespace holdfast::store
