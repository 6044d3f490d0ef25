#include "sync/lifecycle/labels.h"

#include <array>
#include <string_view>
#include <utility>

namespace holdfast::sync::lifecycle {

StringMap labels_to_set(const StringMap& labels) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 2> pairs = {{
      {"kubernetes.io/os", "beta.kubernetes.io/os"},
      {"kubernetes.io/arch", "beta.kubernetes.io/arch"},
  }};
  StringMap missing;
  for (const auto& [stable, beta] : pairs) {
    const std::string* wanted = labels.find(stable);
    if (wanted == nullptr) continue;
    const std::string* found = labels.find(beta);
    if (found == nullptr || *found != *wanted) missing.set(beta, *wanted);
  }
  return missing;
}

}  // namespace holdfast::sync::lifecycle
