// Which volumes a pod's claims have or can get on a node: the rules of upstream's VolumeBinding.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platform/result.h"
#include "sync/schedule/fit_status.h"
#include "sync/schedule/pod_view.h"
#include "sync/schedule/volumes/storage.h"

namespace holdfast::sync::schedule {

// The claims of a pod, borrowed from the storage.
struct PodClaims {
  std::vector<const Claim*> bound;
  std::vector<const Claim*> waiting;  // for their first consumer; the smallest first
};

// Sorts the claims of the pod. Not ok: the pod fits no node, because a claim does not exist, is
// lost or being deleted, is not the pod's own, or has to be bound before the pod is scheduled.
[[nodiscard]] FitStatus sort_claims(const Storage& storage, const PodView& pod, PodClaims& out);

// A waiting claim and the volume for it. nullptr: a volume has to be made for it on the node.
struct Match {
  const Claim* claim;
  const Volume* volume;
};

// Matches the claims on the node. Not ok: why the pod does not fit the node.
[[nodiscard]] FitStatus match_claims(const Storage& storage, const PodClaims& claims,
                                     const Node& node, std::vector<Match>& out);

// A claim that a decision was made for. The version is that of the decision.
struct ClaimRef {
  ClaimName name;
  std::string uid;
  std::string version;

  bool operator==(const ClaimRef&) const = default;
};

// Writes the claim into the volume, so that the volume controller binds both.
struct BindVolume {
  std::string volume;
  std::string uid;
  std::string version;  // of the decision; the request must fail if the volume has changed
  ClaimRef claim;
  bool was_reserved = false;  // the volume named the claim already, without its uid

  bool operator==(const BindVolume&) const = default;
};

// Writes the node into the claim, so that a volume is made there.
struct SelectNode {
  ClaimRef claim;
  std::string node;

  bool operator==(const SelectNode&) const = default;
};

// What has to be done before the pod can be bound to the node, and the claims to wait for.
struct VolumePlan {
  std::string node;
  std::vector<BindVolume> bind;
  std::vector<SelectNode> select;
  std::vector<ClaimRef> waits_for;

  [[nodiscard]] bool empty() const { return waits_for.empty(); }
};

// For a node that the filters accept. Empty if all claims are bound.
[[nodiscard]] VolumePlan plan_volumes(const Storage& storage, const PodView& pod, const Node& node);

// Marks the decisions of the plan as assumed, or ends that.
void assume(Storage& storage, const VolumePlan& plan);
void revert(Storage& storage, const VolumePlan& plan);

// How far the plan is. Error: it cannot succeed any more.
enum class PlanState : std::uint8_t { waiting, done };
[[nodiscard]] Result<PlanState> progress_of(const Storage& storage, const VolumePlan& plan,
                                            const Node& node);

}  // namespace holdfast::sync::schedule
