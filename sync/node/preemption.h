// Which pods of this node must go so that another one fits, decided on the node alone: it works
// without the cloud.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sync/schedule/pod_view.h"

namespace holdfast::sync::node {

// What is missing: cpu in thousandths, bytes, or pieces; each pod frees one of "pods".
struct Requirement {
  std::string resource;
  std::int64_t amount = 0;

  bool operator==(const Requirement&) const = default;
};
using Requirements = std::vector<Requirement>;
using Pods = std::vector<schedule::PodRef>;

// How far `pod` alone is from freeing all of it; 0: it does.
[[nodiscard]] double distance(const Requirements& requirements, const schedule::PodView& pod,
                              const schedule::Symbols& symbols);

// What is still missing when these pods are gone.
[[nodiscard]] Requirements subtract(const Requirements& requirements, const Pods& pods,
                                    const schedule::Symbols& symbols);

// The victims, of the lowest class of service first. Only pods that `preemptor` may preempt count.
// Few and small ones are sought, not the fewest. O(pods^2 * requirements).
// Errors: exhausted, with upstream's words, when even all of them would not do.
[[nodiscard]] Result<Pods> victims(const Pod& preemptor, const Pods& running,
                                   const Requirements& requirements,
                                   const schedule::Symbols& symbols);

}  // namespace holdfast::sync::node
