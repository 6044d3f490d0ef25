// What to run for a container: the program with its arguments, environment and directory.

#pragma once

#include <string>
#include <vector>

#include "platform/result.h"
#include "sync/runtime/environment.h"

namespace holdfast::sync {

struct LaunchPlan {
  std::vector<std::string> argv;  // never empty
  std::vector<std::string> env;   // "NAME=value"
  std::string working_dir;        // empty: the runtime's choice

  bool operator==(const LaunchPlan&) const = default;
};

// Errors: invalid when the container names no command, for there is no image that would bring one,
// or when a text holds a NUL; otherwise as make_environment().
[[nodiscard]] Result<LaunchPlan> make_launch_plan(const Pod& pod, const Container& container,
                                                  const NodeFacts& node,
                                                  const ConfigSource& configs);

}  // namespace holdfast::sync
