// What the Fleet wants done, for the Controller that owns it. Only sources of lifecycle and the
// golden cases include this.
//
// A Fleet knows no pods: three of its wishes are about all pods of a node, and the Controller
// expands them into effects on single pods.

#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "sync/lifecycle/effects.h"

namespace holdfast::sync::lifecycle {

// Mark all pods of the node not ready: pod_marking.h says how.
struct MarkPods {
  std::string node;
  bool operator==(const MarkPods&) const = default;
};

// Delete all pods of the node: direct_eviction.h says how. Not queued: at once, whatever the
// outcome.
struct EvictPods {
  std::string node;
  bool queued = false;
  bool operator==(const EvictPods&) const = default;
};

// From now on the node's own NoExecute taints do not evict, or do again.
struct WithholdEvictions {
  std::string node;
  bool on = false;
  bool operator==(const WithholdEvictions&) const = default;
};

using Wish = std::variant<UpdateNodeStatus, PatchTaints, RecordEvent, MarkPods, EvictPods,
                          WithholdEvictions>;
using Wishes = std::vector<Wish>;

// Appends wishes, or values of one kind of wish.
template <class Range>
void append(Wishes& wishes, Range more) {
  for (auto& wish : more) wishes.emplace_back(std::move(wish));
}

}  // namespace holdfast::sync::lifecycle
