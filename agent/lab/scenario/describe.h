// What the events of a scenario do, in words, and the names of what they apply to.

#pragma once

#include <string>
#include <string_view>

#include "agent/lab/scenario/scenario.h"

namespace holdfast::agent::lab {

// The name of the program: "holdfast-edge", "kubelet".
[[nodiscard]] std::string_view to_string(Process process);

// The kind of the objects that own a workload's pods: a Deployment has ReplicaSets for that.
[[nodiscard]] std::string_view owner_kind(WorkloadKind kind);

struct Description {
  std::string what;    // "link cut"
  std::string target;  // "a-2", "web", "API server"
};
[[nodiscard]] Description describe(const Action& action);

}  // namespace holdfast::agent::lab
