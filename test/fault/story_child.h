// A process that tells a story until it is killed, and says how far it got.

#pragma once

#include <cstddef>
#include <filesystem>

#include "test/fault/stories.h"
#include "test/support/fault_vfs.h"

namespace holdfast::store {

struct Told {
  bool killed = false;    // by the plan; otherwise it came to its end
  bool opened = false;    // the file was opened
  std::size_t steps = 0;  // acknowledged
};

// Forks; the child opens `file` on the fault VFS and follows `plan`. An error that the child meets
// fails the test.
[[nodiscard]] Told tell_in_child(const StoryKind& kind, const std::filesystem::path& file,
                                 const test::FaultPlan& plan);

}  // namespace holdfast::store
