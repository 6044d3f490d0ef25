// Decides how to run a container: program, arguments, environment and working directory. Pure.

#pragma once

#include <string>
#include <vector>

#include "platform/result.h"
#include "sync/runtime/environment.h"

namespace holdfast::sync::runtime {

struct LaunchPlan {
  std::vector<std::string> argv;  // never empty
  std::vector<std::string> env;   // "NAME=value"
  std::string working_dir;        // empty: the runtime chooses

  bool operator==(const LaunchPlan&) const = default;
};

// Errors: invalid if the container has no command (the process runtime has no images that could
// provide one) or a text contains a NUL; otherwise as make_environment().
[[nodiscard]] Result<LaunchPlan> make_launch_plan(const Pod& pod, const Container& container,
                                                  const NodeFacts& node,
                                                  const ConfigSource& configs);

}  // namespace holdfast::sync::runtime
