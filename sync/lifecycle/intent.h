// The requests of the Fleet to the Controller that owns it. Only sources of lifecycle and the
// golden cases include this.
//
// A Fleet knows no pods: three of its intents concern all pods of a node, and the Controller
// expands them into effects on single pods.

#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "sync/lifecycle/effects.h"

namespace holdfast::sync::lifecycle {

// Mark all pods of the node not ready, as described in pod_marking.h.
struct MarkPods {
  std::string node;
  bool operator==(const MarkPods&) const = default;
};

// Delete all pods of the node, as described in direct_eviction.h. `queued`: the node has its turn
// in its zone's queue, which needs the outcome; otherwise the outcome is ignored.
struct EvictPods {
  std::string node;
  bool queued = false;
  bool operator==(const EvictPods&) const = default;
};

// Stop evictions by the node's not-ready and unreachable NoExecute taints, or allow them again.
struct WithholdEvictions {
  std::string node;
  bool on = false;
  bool operator==(const WithholdEvictions&) const = default;
};

using Intent = std::variant<UpdateNodeStatus, PatchTaints, RecordEvent, MarkPods, EvictPods,
                            WithholdEvictions>;
using Intents = std::vector<Intent>;

// Appends intents, or values of one kind of intent.
template <class Range>
void append(Intents& intents, Range more) {
  for (auto& intent : more) intents.emplace_back(std::move(intent));
}

}  // namespace holdfast::sync::lifecycle
