#include "sync/lifecycle/taints.h"

#include <algorithm>
#include <array>
#include <utility>

#include "sync/objects/names.h"

namespace holdfast::sync::lifecycle {
namespace {

constexpr std::array<std::string_view, 7> own_keys = {
    objects::taint_not_ready,     objects::taint_unreachable,  objects::taint_memory_pressure,
    objects::taint_disk_pressure, objects::taint_pid_pressure, objects::taint_network,
    objects::taint_unschedulable};

// Whether the controller manages this taint. It manages out-of-disk only on nodes whose kubelet
// posts OutOfDisk.
bool is_own(const NodeFacts& node, std::string_view key) {
  if (key == objects::taint_out_of_disk) {
    return node.condition(ConditionType::out_of_disk).status != Truth::absent;
  }
  return std::find(own_keys.begin(), own_keys.end(), key) != own_keys.end();
}

// The keys of the NoSchedule taints that the node should have, in the order of upstream's writes.
std::vector<std::string_view> wanted_keys(const NodeFacts& node) {
  std::vector<std::string_view> keys;
  if (node.ready().status == Truth::no) keys.push_back(objects::taint_not_ready);
  if (node.ready().status == Truth::unknown) keys.push_back(objects::taint_unreachable);
  constexpr std::array<std::pair<ConditionType, std::string_view>, 5> pressures = {{
      {ConditionType::out_of_disk, objects::taint_out_of_disk},
      {ConditionType::memory, objects::taint_memory_pressure},
      {ConditionType::disk, objects::taint_disk_pressure},
      {ConditionType::pid, objects::taint_pid_pressure},
      {ConditionType::network, objects::taint_network},
  }};
  for (const auto& [type, key] : pressures) {
    if (node.condition(type).status == Truth::yes) keys.push_back(key);
  }
  if (node.unschedulable) keys.push_back(objects::taint_unschedulable);
  return keys;
}

bool same_taint(const Taint& taint, std::string_view key, std::string_view effect) {
  return taint.key == key && taint.effect == effect;
}

std::optional<TaintsSeen> seen_of(const NodeFacts& node) {
  if (node.resource_version.empty()) return std::nullopt;
  return TaintsSeen{node.resource_version, node.taints};
}

// The patch as one write, or as one that adds and one that removes.
std::vector<PatchTaints> split(PatchTaints patch, const Options& options) {
  if (patch.add.empty() && patch.remove.empty()) return {};
  if (options.one_patch_per_swap || patch.add.empty() || patch.remove.empty()) {
    return {patch};
  }
  // The first write changes the resource version, so the second one must read the node first.
  PatchTaints removing{patch.node, patch.uid, patch.cause, {}, std::move(patch.remove), {}};
  patch.remove.clear();
  return {patch, removing};
}

}  // namespace

bool has_taint(const std::vector<Taint>& taints, std::string_view key, std::string_view effect) {
  return std::any_of(taints.begin(), taints.end(),
                     [key, effect](const Taint& taint) { return same_taint(taint, key, effect); });
}

bool has_no_execute(const NodeFacts& node) {
  return has_taint(node.taints, objects::taint_unreachable, objects::no_execute) ||
         has_taint(node.taints, objects::taint_not_ready, objects::no_execute);
}

Taint make_taint(std::string_view key, std::string_view effect, WallTime added) {
  Taint taint;
  taint.key = key;
  taint.effect = effect;
  taint.time_added = added;
  return taint;
}

std::vector<PatchTaints> reconcile_no_schedule(WallTime wall, const NodeFacts& node,
                                               const Options& options) {
  PatchTaints patch{node.name, node.uid, TaintCause::conditions, {}, {}, seen_of(node)};
  const std::vector<std::string_view> wanted = wanted_keys(node);
  for (const std::string_view key : wanted) {
    if (has_taint(node.taints, key, objects::no_schedule)) continue;
    patch.add.push_back(make_taint(key, objects::no_schedule, wall));
  }
  for (const Taint& taint : node.taints) {
    if (!is_own(node, taint.key) || taint.effect != objects::no_schedule) continue;
    if (std::find(wanted.begin(), wanted.end(), taint.key) != wanted.end()) continue;
    patch.remove.push_back({taint.key, taint.effect});
  }
  return split(std::move(patch), options);
}

std::vector<PatchTaints> no_execute_taint(WallTime wall, const NodeFacts& node, Truth ready,
                                          TaintCause cause, const Options& options) {
  const bool silent = ready == Truth::unknown;
  const std::string_view wanted = silent ? objects::taint_unreachable : objects::taint_not_ready;
  const std::string_view opposite = silent ? objects::taint_not_ready : objects::taint_unreachable;
  PatchTaints patch{node.name, node.uid,     cause, {make_taint(wanted, objects::no_execute, wall)},
                    {},        seen_of(node)};
  if (has_taint(node.taints, opposite, objects::no_execute)) {
    patch.remove.push_back({std::string(opposite), std::string(objects::no_execute)});
  }
  return split(std::move(patch), options);
}

std::vector<PatchTaints> remove_no_execute(const NodeFacts& node, const Options& options) {
  std::vector<PatchTaints> patches;
  PatchTaints patch{node.name, node.uid, TaintCause::recovered, {}, {}, {}};
  for (const std::string_view key : {objects::taint_unreachable, objects::taint_not_ready}) {
    if (!has_taint(node.taints, key, objects::no_execute)) continue;
    patch.remove.push_back({std::string(key), std::string(objects::no_execute)});
    if (options.one_patch_per_swap) continue;
    patches.push_back(patch);
    patch.remove.clear();
  }
  if (!patch.remove.empty()) patches.push_back(std::move(patch));
  return patches;
}

std::vector<Taint> taints_after(const std::vector<Taint>& taints, const PatchTaints& patch) {
  std::vector<Taint> after;
  for (const Taint& taint : taints) {
    const auto gone = [&taint](const TaintRef& ref) {
      return same_taint(taint, ref.key, ref.effect);
    };
    if (!std::any_of(patch.remove.begin(), patch.remove.end(), gone)) after.push_back(taint);
  }
  for (const Taint& taint : patch.add) {
    const auto same = [&taint](const Taint& old) {
      return same_taint(old, taint.key, taint.effect);
    };
    const auto old = std::find_if(after.begin(), after.end(), same);
    if (old == after.end()) {
      after.push_back(taint);
    } else {
      *old = taint;
    }
  }
  return after;
}

bool has_out_of_service(const std::vector<Taint>& taints) {
  return std::any_of(taints.begin(), taints.end(),
                     [](const Taint& taint) { return taint.key == objects::taint_out_of_service; });
}

std::vector<Taint> without_own_no_execute(const std::vector<Taint>& taints) {
  std::vector<Taint> rest;
  for (const Taint& taint : taints) {
    const bool own = same_taint(taint, objects::taint_not_ready, objects::no_execute) ||
                     same_taint(taint, objects::taint_unreachable, objects::no_execute);
    if (!own) rest.push_back(taint);
  }
  return rest;
}

}  // namespace holdfast::sync::lifecycle
