#include "sync/schedule/volumes/match.h"

#include <algorithm>
#include <set>

#include "sync/schedule/names.h"

namespace holdfast::sync::schedule {
namespace {

constexpr std::string_view no_provisioner = "kubernetes.io/no-provisioner";

std::string quoted(const std::string& text) { return "\"" + text + "\""; }

std::string not_found(const std::string& claim) {
  return "persistentvolumeclaim " + quoted(claim) + " not found";
}

// Why the pod cannot use the claim, or "".
std::string problem_of(const Claim* claim, const ClaimUse& use, const PodView& pod) {
  if (claim == nullptr && use.is_ephemeral) {
    return "waiting for ephemeral volume controller to create the persistentvolumeclaim " +
           quoted(use.claim);
  }
  if (claim == nullptr) return not_found(use.claim);
  const std::string name = "persistentvolumeclaim " + quoted(use.claim);
  if (claim->is_lost) {
    return name + " bound to non-existent persistentvolume " + quoted(claim->volume);
  }
  if (claim->is_deleting) return name + " is being deleted";
  if (use.is_ephemeral && claim->owner != pod.uid()) {
    const std::string space = pod.namespace_name() + "/";
    return "PVC " + space + use.claim + " was not created for pod " + space + pod.name() +
           " (pod is not owner)";
  }
  return "";
}

bool allows(const Volume& volume, const Claim& claim) {
  return std::all_of(
      claim.access_modes.begin(), claim.access_modes.end(), [&volume](const std::string& mode) {
        return std::find(volume.access_modes.begin(), volume.access_modes.end(), mode) !=
               volume.access_modes.end();
      });
}

// Whether the volume may serve the claim, apart from the node.
bool suits(const Storage& storage, const Volume& volume, const Claim& claim) {
  if (volume.claim && !volume.belongs_to(claim)) return false;
  const std::string_view promised = storage.promised_to(volume);
  if (!promised.empty() && promised != claim.uid) return false;
  return volume.bytes >= claim.bytes && volume.is_block == claim.is_block &&
         volume.attributes_class == claim.attributes_class && !volume.is_deleting;
}

// The volume that was made for the claim, or the smallest that suits; nullptr if there is none.
const Volume* find_volume(const Storage& storage, const Claim& claim, const Node& node,
                          const std::set<std::string>& taken) {
  const Volume* smallest = nullptr;
  for (const std::string& name : storage.volumes_of(claim.class_name)) {
    const Volume& volume = *storage.volume(name);
    if (taken.contains(name) || !suits(storage, volume, claim)) continue;
    const bool reaches = volume.reaches(node);
    if (volume.belongs_to(claim)) return reaches ? &volume : nullptr;
    if (!reaches || !volume.is_available || !allows(volume, claim)) continue;
    if (claim.selector && !claim.selector->matches(volume.labels)) continue;
    if (smallest == nullptr || volume.bytes < smallest->bytes) smallest = &volume;
  }
  return smallest;
}

// Whether a volume can be made for the claim on the node.
bool can_make(const Storage& storage, const Claim& claim, const Node& node) {
  const VolumeClass* found = storage.volume_class(claim.class_name);
  return found != nullptr && !found->provisioner.empty() && found->provisioner != no_provisioner &&
         found->reaches(node);
}

FitStatus check_bound(const Storage& storage, const std::vector<const Claim*>& claims,
                      const Node& node) {
  FitStatus fit_status;
  for (const Claim* claim : claims) {
    const Volume* volume = storage.volume(claim->volume);
    if (volume == nullptr) {
      return reject(Code::unresolvable, std::string(reason_volume_missing), plugin_volume_binding);
    }
    if (!volume->reaches(node)) {
      return reject(Code::unresolvable, std::string(reason_volume_affinity), plugin_volume_binding);
    }
  }
  return fit_status;
}

ClaimRef reference(const Claim& claim) { return {claim.name, claim.uid, claim.version}; }

}  // namespace

FitStatus sort_claims(const Storage& storage, const PodView& pod, PodClaims& out) {
  bool is_early = false;
  for (const ClaimUse& use : pod.claims()) {
    const Claim* claim = storage.claim({pod.namespace_name(), use.claim});
    if (std::string problem = problem_of(claim, use, pod); !problem.empty()) {
      return reject(Code::unresolvable, std::move(problem), plugin_volume_binding);
    }
    const VolumeClass* of_class = storage.volume_class(claim->class_name);
    if (claim->is_bound) {
      out.bound.push_back(claim);
    } else if (claim->volume.empty() && of_class != nullptr && of_class->waits()) {
      out.waiting.push_back(claim);
    } else {
      is_early = true;
    }
  }
  if (is_early) {
    return reject(Code::unresolvable, std::string(reason_unbound_claims), plugin_volume_binding);
  }
  std::stable_sort(
      out.waiting.begin(), out.waiting.end(),
      [](const Claim* left, const Claim* right) { return left->bytes < right->bytes; });
  const auto same = std::unique(out.waiting.begin(), out.waiting.end());
  out.waiting.erase(same, out.waiting.end());
  return {};
}

FitStatus match_claims(const Storage& storage, const PodClaims& claims, const Node& node,
                       std::vector<Match>& out) {
  out.clear();
  if (FitStatus bound = check_bound(storage, claims.bound, node); !bound.ok()) return bound;
  std::set<std::string> taken;
  for (const Claim* claim : claims.waiting) {
    const std::string_view selected = storage.selected_node(*claim);
    const bool elsewhere = !selected.empty() && selected != node.metadata.name;
    const Volume* volume = selected.empty() ? find_volume(storage, *claim, node, taken) : nullptr;
    if (elsewhere || (volume == nullptr && !can_make(storage, *claim, node))) {
      return reject(Code::unresolvable, std::string(reason_no_volume), plugin_volume_binding);
    }
    if (volume != nullptr) taken.insert(volume->name);
    out.push_back({claim, volume});
  }
  return {};
}

VolumePlan plan_volumes(const Storage& storage, const PodView& pod, const Node& node) {
  VolumePlan plan;
  plan.node = node.metadata.name;
  PodClaims claims;
  std::vector<Match> matches;
  if (!sort_claims(storage, pod, claims).ok()) return plan;
  if (!match_claims(storage, claims, node, matches).ok()) return plan;
  for (const Match& match : matches) {
    const ClaimRef claim = reference(*match.claim);
    plan.waits_for.push_back(claim);
    if (match.volume == nullptr) {
      // Another pod may have had the node selected already.
      if (storage.selected_node(*match.claim).empty()) plan.select.push_back({claim, plan.node});
    } else if (const bool was_reserved = match.volume->belongs_to(*match.claim);
               !was_reserved || match.volume->claim->uid.empty()) {
      plan.bind.push_back(
          {match.volume->name, match.volume->uid, match.volume->version, claim, was_reserved});
    }
  }
  return plan;
}

void assume(Storage& storage, const VolumePlan& plan) {
  for (const BindVolume& each : plan.bind) storage.promise(each.volume, each.claim.uid);
  for (const SelectNode& each : plan.select) storage.select(each.claim.name, each.node);
}

void revert(Storage& storage, const VolumePlan& plan) {
  for (const BindVolume& each : plan.bind) storage.drop_promise(each.volume);
  for (const SelectNode& each : plan.select) storage.drop_selection(each.claim.name);
}

namespace {

// Whether the plan still has a volume for this claim that is not bound yet: one that is or will be
// bound to it, or a node that is selected for it.
bool is_pursued(const Storage& storage, const VolumePlan& plan, const Claim& claim) {
  if (storage.selected_node(claim) == plan.node) return true;
  for (const BindVolume& each : plan.bind) {
    if (each.claim.uid != claim.uid) continue;
    const Volume* volume = storage.volume(each.volume);
    return volume != nullptr &&
           (volume->belongs_to(claim) || storage.promised_to(*volume) == claim.uid);
  }
  // A volume that named the claim before the plan was made.
  const auto& volumes = storage.volumes_of(claim.class_name);
  return std::any_of(volumes.begin(), volumes.end(), [&storage, &claim](const std::string& name) {
    return storage.volume(name)->belongs_to(claim);
  });
}

}  // namespace

Result<PlanState> progress_of(const Storage& storage, const VolumePlan& plan, const Node& node) {
  PlanState state = PlanState::done;
  for (const ClaimRef& wanted : plan.waits_for) {
    const Claim* claim = storage.claim(wanted.name);
    if (claim == nullptr || claim->uid != wanted.uid) {
      return fail(Errc::not_found, not_found(wanted.name.second));
    }
    if (!claim->is_bound) {
      if (!is_pursued(storage, plan, *claim)) {
        return fail(Errc::unavailable, "no volume was provided for persistentvolumeclaim " +
                                           quoted(wanted.name.second) + " on node " +
                                           quoted(plan.node));
      }
      state = PlanState::waiting;
      continue;
    }
    const Volume* volume = storage.volume(claim->volume);
    if (volume == nullptr) {
      state = PlanState::waiting;  // its watch is late
    } else if (!volume->reaches(node)) {
      return fail(Errc::conflict, "persistentvolume " + quoted(claim->volume) +
                                      " cannot be used on node " + quoted(plan.node));
    }
  }
  return state;
}

}  // namespace holdfast::sync::schedule
