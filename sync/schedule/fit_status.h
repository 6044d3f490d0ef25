// What a plugin, a step or a whole attempt says of a pod and a node: a code and its reasons.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::sync::schedule {

enum class Code : std::uint8_t {
  success,
  error,          // of ours; nothing is known of the node
  unschedulable,  // not now; taking pods away might help
  unresolvable,   // not now, and taking pods away would not help
  pending,        // something else is under way; it will be heard of
};

// As upstream prints it: "UnschedulableAndUnresolvable".
[[nodiscard]] std::string_view to_string(Code code);

struct FitStatus {
  Code code = Code::success;
  std::vector<std::string> reasons;
  std::string_view plugin = {};  // who said so; text that outlives everything, or empty

  bool operator==(const FitStatus&) const = default;

  [[nodiscard]] bool ok() const { return code == Code::success; }
  // Unschedulable, unresolvable or pending: an answer, not a failure.
  [[nodiscard]] bool rejected() const { return !ok() && code != Code::error; }
  // The reasons, joined by ", ".
  [[nodiscard]] std::string message() const;
};

[[nodiscard]] inline FitStatus reject(Code code, std::string reason, std::string_view plugin = {}) {
  return {code, {std::move(reason)}, plugin};
}

}  // namespace holdfast::sync::schedule
