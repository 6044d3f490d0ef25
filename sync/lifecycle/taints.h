// The taints that a node's conditions require, and the patches that bring its taints in line.

#pragma once

#include <vector>

#include "sync/lifecycle/effects.h"
#include "sync/lifecycle/facts.h"

namespace holdfast::sync::lifecycle {

[[nodiscard]] bool has_taint(const std::vector<Taint>& taints, std::string_view key,
                             std::string_view effect);

[[nodiscard]] Taint make_taint(std::string_view key, std::string_view effect, WallTime added);

// Brings the controller's NoSchedule taints (seven, and out-of-disk on kubelets before 1.13) in
// line with the conditions and spec.unschedulable. Compares key and effect; other taints stay.
// Empty if nothing differs.
[[nodiscard]] std::vector<PatchTaints> reconcile_no_schedule(WallTime wall, const NodeFacts& node,
                                                             const Options& options);

// Adds the NoExecute taint for `ready` (False: not-ready, Unknown: unreachable) and removes the
// opposite one if `node` is known to have it.
[[nodiscard]] std::vector<PatchTaints> no_execute_taint(WallTime wall, const NodeFacts& node,
                                                        Truth ready, TaintCause cause,
                                                        const Options& options);

// Whether the node has one of the not-ready and unreachable NoExecute taints.
[[nodiscard]] bool has_no_execute(const NodeFacts& node);

// Removes the not-ready and unreachable NoExecute taints, in one patch or, without
// Options::one_patch_per_swap, in one patch each. Empty if the node has neither.
[[nodiscard]] std::vector<PatchTaints> remove_no_execute(const NodeFacts& node,
                                                         const Options& options);

// The list after the patch. An added taint replaces the one with the same key and effect. If the
// result equals `taints`, nothing needs to be written.
[[nodiscard]] std::vector<Taint> taints_after(const std::vector<Taint>& taints,
                                              const PatchTaints& patch);

// Whether an operator declared the node dead with the taint out-of-service, of any effect.
[[nodiscard]] bool has_out_of_service(const std::vector<Taint>& taints);

// The taints without not-ready and unreachable of effect NoExecute, which this controller sets.
[[nodiscard]] std::vector<Taint> without_own_no_execute(const std::vector<Taint>& taints);

}  // namespace holdfast::sync::lifecycle
