// The taints that a node's conditions ask for, and how a node's list of taints changes.

#pragma once

#include <vector>

#include "sync/lifecycle/effects.h"
#include "sync/lifecycle/facts.h"

namespace holdfast::sync::lifecycle {

[[nodiscard]] bool has_taint(const std::vector<Taint>& taints, std::string_view key,
                             std::string_view effect);

[[nodiscard]] Taint make_taint(std::string_view key, std::string_view effect, WallTime added);

// The seven NoSchedule taints, out-of-disk on old kubelets, brought in line with conditions and
// spec.unschedulable. Compares by key and effect; foreign taints stay. Empty when nothing differs.
[[nodiscard]] std::vector<PatchTaints> reconcile_no_schedule(WallTime wall, const NodeFacts& node,
                                                             const Options& options);

// The NoExecute taint of a node whose Ready is False or Unknown, the opposite one out. Only the
// opposite taint that `node` is known to have is removed.
[[nodiscard]] std::vector<PatchTaints> no_execute_taint(WallTime wall, const NodeFacts& node,
                                                        Truth ready, TaintCause cause,
                                                        const Options& options);

// Takes both own NoExecute taints off; one patch for each, or one for all. Empty when it has none.
[[nodiscard]] std::vector<PatchTaints> remove_no_execute(const NodeFacts& node,
                                                         const Options& options);

// The list after the patch; equal to `taints` when there is nothing to write. An added taint
// replaces one of its key and effect.
[[nodiscard]] std::vector<Taint> taints_after(const std::vector<Taint>& taints,
                                              const PatchTaints& patch);

// Whether an operator declared the node dead: the taint out-of-service, of any effect.
[[nodiscard]] bool has_out_of_service(const std::vector<Taint>& taints);

// Without the two that this controller sets itself.
[[nodiscard]] std::vector<Taint> without_own_no_execute(const std::vector<Taint>& taints);

}  // namespace holdfast::sync::lifecycle
