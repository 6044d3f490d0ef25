// Selects the pods of this node that must stop so that another one fits. The node decides this
// alone, so it works offline. Pure.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sync/schedule/pod_view.h"

namespace holdfast::sync::node {

// A missing resource: CPU in thousandths, bytes or a count. Each pod frees one of "pods".
struct Requirement {
  std::string resource;
  std::int64_t amount = 0;

  bool operator==(const Requirement&) const = default;
};
using Requirements = std::vector<Requirement>;
using Pods = std::vector<schedule::PodRef>;

// How far `pod` alone is from freeing everything that is missing; 0: it frees all of it.
[[nodiscard]] double distance(const Requirements& requirements, const schedule::PodView& pod,
                              const schedule::Symbols& symbols);

// What is still missing after these pods have stopped.
[[nodiscard]] Requirements subtract(const Requirements& requirements, const Pods& pods,
                                    const schedule::Symbols& symbols);

// The pods to stop, of the lowest QoS class first. Only pods that `preemptor` may preempt are
// considered. The choice prefers few and small pods, but is not always the smallest one. O(pods^2 *
// requirements). Errors: exhausted, with upstream's message, when even all of them would not
// suffice.
[[nodiscard]] Result<Pods> victims(const Pod& preemptor, const Pods& running,
                                   const Requirements& requirements,
                                   const schedule::Symbols& symbols);

}  // namespace holdfast::sync::node
