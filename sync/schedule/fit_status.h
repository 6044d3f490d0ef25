// The result of a plugin, a step or a whole attempt for a pod and a node: a code and its reasons.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::sync::schedule {

enum class Code : std::uint8_t {
  success,
  error,          // the check failed; nothing is known about the node
  unschedulable,  // does not fit now; removing pods might help
  unresolvable,   // does not fit now, and removing pods would not help
  pending,        // waits for something in progress, whose end causes an event
};

// As upstream prints it: "UnschedulableAndUnresolvable".
[[nodiscard]] std::string_view to_string(Code code);

struct FitStatus {
  Code code = Code::success;
  std::vector<std::string> reasons;
  std::string_view plugin = {};  // the plugin that rejected; of static storage duration, or empty

  bool operator==(const FitStatus&) const = default;

  [[nodiscard]] bool ok() const { return code == Code::success; }
  // Whether the code is unschedulable, unresolvable or pending.
  [[nodiscard]] bool rejected() const { return !ok() && code != Code::error; }
  // The reasons, joined by ", ".
  [[nodiscard]] std::string message() const;
};

[[nodiscard]] inline FitStatus reject(Code code, std::string reason, std::string_view plugin = {}) {
  return {code, {std::move(reason)}, plugin};
}

}  // namespace holdfast::sync::schedule
