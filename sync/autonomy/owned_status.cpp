#include "sync/autonomy/owned_status.h"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <map>
#include <span>

#include "sync/autonomy/local_write.h"
#include "sync/objects/patch/diff.h"
#include "sync/objects/patch/merge_patch.h"
#include "sync/wire/object_header.h"
#include "sync/wire/read.h"

namespace holdfast::sync::autonomy {
namespace {

using Names = std::span<const std::string_view>;

constexpr std::array<std::string_view, 14> pod_fields = {"phase",
                                                         "reason",
                                                         "message",
                                                         "hostIP",
                                                         "hostIPs",
                                                         "podIP",
                                                         "podIPs",
                                                         "startTime",
                                                         "initContainerStatuses",
                                                         "containerStatuses",
                                                         "ephemeralContainerStatuses",
                                                         "observedGeneration",
                                                         "allocatedResources",
                                                         "resources"};
constexpr std::array<std::string_view, 8> pod_conditions = {"PodScheduled",
                                                            "Ready",
                                                            "Initialized",
                                                            "ContainersReady",
                                                            "PodResizePending",
                                                            "PodResizeInProgress",
                                                            "PodReadyToStartContainers",
                                                            "AllContainersRestarting"};
// Shared with those who evict pods: the kubelet writes it only when a pod has ended.
constexpr std::array<std::string_view, 1> shared_pod_conditions = {"DisruptionTarget"};
// These say how a pod has ended.
constexpr std::array<std::string_view, 3> end_fields = {"phase", "reason", "message"};
constexpr std::array<std::string_view, 2> end_conditions = {"Ready", "ContainersReady"};

constexpr std::array<std::string_view, 9> node_fields = {
    "addresses", "daemonEndpoints", "nodeInfo", "images",          "volumesInUse",
    "config",    "runtimeHandlers", "features", "declaredFeatures"};
// Maps to which others add entries: extended resources.
constexpr std::array<std::string_view, 2> node_maps = {"capacity", "allocatable"};
constexpr std::array<std::string_view, 4> node_conditions = {"Ready", "MemoryPressure",
                                                             "DiskPressure", "PIDPressure"};

// In a queued status.
constexpr std::string_view written_field = "writtenConditions";

bool contains(Names names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string_view type_of(const json::value& condition) {
  return wire::dig_text(wire::as_object(condition), {"type"});
}

// Copies the fields `names` from `ours`, and erases those that `ours` does not have.
void take_fields(json::object& result, const json::object& ours, Names names) {
  for (const std::string_view name : names) {
    if (const json::value* found = ours.if_contains(name)) {
      result[name] = *found;
    } else {
      result.stable_erase(name);
    }
  }
}

// Keeps the conditions of other types, then appends those of our types, as the kubelet orders them.
void take_conditions(json::object& result, const json::object& ours, Names types,
                     const WrittenConditions& written = {}) {
  const auto is_taken = [types, &written](const json::value& condition) {
    const std::string_view type = type_of(condition);
    return contains(types, type) || written.contains(type);
  };
  json::array all;
  if (!result.contains("conditions") && !ours.contains("conditions")) return;
  for (const json::value& each : wire::dig_list(result, {"conditions"})) {
    if (!is_taken(each)) all.push_back(each);
  }
  for (const json::value& each : wire::dig_list(ours, {"conditions"})) {
    if (is_taken(each)) all.push_back(each);
  }
  result["conditions"] = std::move(all);
}

bool is_kubelets(std::string_view resource, std::string_view type) {
  if (resource == "nodes") return contains(node_conditions, type);
  return contains(pod_conditions, type) || contains(shared_pod_conditions, type);
}

// The conditions that are not the kubelet's, by type.
std::map<std::string_view, const json::value*> other_conditions(std::string_view resource,
                                                                const json::object& status) {
  std::map<std::string_view, const json::value*> found;
  for (const json::value& each : wire::dig_list(status, {"conditions"})) {
    const std::string_view type = type_of(each);
    if (!type.empty() && !is_kubelets(resource, type)) found.emplace(type, &each);
  }
  return found;
}

bool has_ended(const json::object& pod_status) {
  const std::string_view phase = wire::dig_text(pod_status, {"phase"});
  return phase == "Succeeded" || phase == "Failed";
}

ReplayPatch conflict(std::string why) {
  return {.what = ReplayPatch::What::conflict, .why = std::move(why)};
}

// Why `theirs` is not the object that the write was meant for; "" if it is.
std::string other_object(const StatusReplay& replay, const json::object& queued,
                         const json::object& theirs) {
  const std::string meant(wire::uid_of(queued));
  const std::string found(wire::uid_of(theirs));
  if (!meant.empty() && !is_local_uid(meant) && meant != found) {
    return "the cloud has another object of this name: uid " + found + " instead of " + meant;
  }
  if (replay.resource != "pods" || wire::dig(theirs, {"spec"}) == nullptr) return {};
  const std::string_view node = wire::dig_text(theirs, {"spec", "nodeName"});
  if (node == replay.node_name) return {};
  return "the pod is on another node: " + std::string(node);
}

std::string_view kind_of(std::string_view resource) {
  if (resource == "pods") return "Pod";
  return resource == "nodes" ? "Node" : "CSINode";
}

}  // namespace

bool is_owned_status(std::string_view verb, std::string_view resource,
                     std::string_view subresource) {
  if (verb != "PATCH") return false;
  if (resource == "csinodes") return subresource.empty();
  return (resource == "pods" || resource == "nodes") && subresource == "status";
}

WrittenConditions written_conditions(std::string_view resource, const json::object& before,
                                     const json::object& after) {
  WrittenConditions types;
  if (resource != "pods" && resource != "nodes") return types;
  const auto were = other_conditions(resource, before);
  const auto are = other_conditions(resource, after);
  for (const auto& [type, condition] : are) {
    const auto was = were.find(type);
    if (was == were.end() || *was->second != *condition) types.emplace(type);
  }
  for (const auto& [type, condition] : were) {
    if (!are.contains(type)) types.emplace(type);
  }
  return types;
}

WrittenConditions written_conditions(const json::object& queued) {
  WrittenConditions types;
  for (const json::value& each : wire::dig_list(queued, {written_field})) {
    if (each.is_string()) types.emplace(each.get_string());
  }
  return types;
}

void name_written_conditions(json::object& queued, const WrittenConditions& types) {
  if (types.empty()) return;
  json::array& names = queued[written_field].emplace_array();
  for (const std::string& type : types) names.emplace_back(type);
}

json::object owned_pod_status(const json::object& theirs, const json::object& ours,
                              const WrittenConditions& written) {
  json::object result = theirs;
  // A pod that has ended there never becomes unfinished again.
  const bool ended_there = has_ended(theirs) && !has_ended(ours);
  const bool ends_here = has_ended(ours) && !has_ended(theirs);
  json::object mine = ours;
  if (ended_there) {
    take_fields(mine, theirs, end_fields);
    take_conditions(mine, theirs, end_conditions);
  }
  take_fields(result, mine, pod_fields);
  // qosClass never changes once it is set, and an API server may have set it itself.
  const json::value* qos = mine.if_contains("qosClass");
  if (qos != nullptr && !result.contains("qosClass")) result["qosClass"] = *qos;
  take_conditions(result, mine, pod_conditions, written);
  const json::array& conditions = wire::dig_list(mine, {"conditions"});
  const bool shares =
      ends_here && std::any_of(conditions.begin(), conditions.end(), [](const auto& each) {
        return contains(shared_pod_conditions, type_of(each));
      });
  if (shares) take_conditions(result, mine, shared_pod_conditions);
  return result;
}

json::object owned_node_status(const json::object& theirs, const json::object& ours,
                               const WrittenConditions& written) {
  json::object result = theirs;
  take_fields(result, ours, node_fields);
  take_conditions(result, ours, node_conditions, written);
  for (const std::string_view name : node_maps) {
    if (wire::dig(ours, {name}) == nullptr) continue;
    json::object merged = wire::dig_object(result, {name});
    for (const auto& amount : wire::dig_object(ours, {name})) merged[amount.key()] = amount.value();
    result[name] = std::move(merged);
  }
  return result;
}

Result<ReplayPatch> replay_patch(const StatusReplay& replay) {
  TRY(json::value queued, wire::parse_json(replay.queued));
  TRY(json::value theirs, wire::parse_json(replay.theirs));
  if (!queued.is_object() || !theirs.is_object()) {
    return fail(Errc::invalid, "a status that is not an object");
  }
  objects::prune_nulls(queued);
  objects::prune_nulls(theirs);
  const std::string why = other_object(replay, queued.get_object(), theirs.get_object());
  if (!why.empty()) return conflict(why);

  const std::string_view part = replay.resource == "csinodes" ? "spec" : "status";
  if (wire::dig(queued.get_object(), {part}) == nullptr) return ReplayPatch{};
  const json::object& ours = wire::dig_object(queued.get_object(), {part});
  const json::object& now = wire::dig_object(theirs.get_object(), {part});
  const WrittenConditions written = written_conditions(queued.get_object());
  json::object wanted = ours;
  if (replay.resource == "pods") wanted = owned_pod_status(now, ours, written);
  if (replay.resource == "nodes") wanted = owned_node_status(now, ours, written);
  const json::object before{{part, now}};
  const json::object after{{part, std::move(wanted)}};
  TRY(json::object patch, objects::strategic_diff(kind_of(replay.resource), before, after));
  if (patch.empty()) return ReplayPatch{};
  const std::string_view uid = wire::uid_of(theirs.get_object());
  if (!uid.empty()) patch["metadata"] = json::object{{"uid", uid}};
  return ReplayPatch{.what = ReplayPatch::What::send, .body = wire::serialize(patch)};
}

}  // namespace holdfast::sync::autonomy
