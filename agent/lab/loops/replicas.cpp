#include "agent/lab/loops/replicas.h"

#include <algorithm>
#include <boost/json.hpp>

#include "agent/lab/rules/matching.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

int rank(const json::object& pod) {
  if (sync::wire::dig_text(pod, {"spec", "nodeName"}).empty()) return 0;
  if (sync::wire::dig_text(pod, {"status", "phase"}) != "Running") return 1;
  return is_ready(pod) ? 3 : 2;
}

bool goes_before(const json::object* left, const json::object* right) {
  if (rank(*left) != rank(*right)) return rank(*left) < rank(*right);
  const std::string_view created = sync::wire::dig_text(*left, {"metadata", "creationTimestamp"});
  const std::string_view other = sync::wire::dig_text(*right, {"metadata", "creationTimestamp"});
  if (created != other) return created > other;
  return sync::wire::name_of(*left) < sync::wire::name_of(*right);
}

json::object report(const json::object& set, const Objects& active) {
  const json::object& labels =
      sync::wire::dig_object(set, {"spec", "template", "metadata", "labels"});
  std::int64_t labeled = 0;
  std::int64_t ready = 0;
  for (const json::object* pod : active) {
    const json::object selector = {{"matchLabels", labels}};
    if (selects_object(selector, *pod)) ++labeled;
    if (is_ready(*pod)) ++ready;
  }
  json::object status = sync::wire::dig_object(set, {"status"});
  status["replicas"] = active.size();
  status["fullyLabeledReplicas"] = labeled;
  status["readyReplicas"] = ready;
  status["availableReplicas"] = ready;
  status["observedGeneration"] = sync::wire::dig_int(set, {"metadata", "generation"});
  return status;
}

}  // namespace

ReplicaPlan plan_replicas(const json::object& set, const Objects& pods, std::size_t burst) {
  Objects active;
  for (const json::object* pod : pods) {
    if (is_active(*pod)) active.push_back(pod);
  }
  ReplicaPlan plan;
  plan.status = report(set, active);
  if (sync::wire::is_terminating(set)) return plan;
  const auto wanted = static_cast<std::size_t>(
      std::max<std::int64_t>(sync::wire::dig_int(set, {"spec", "replicas"}), 0));
  if (active.size() < wanted) plan.create = std::min(wanted - active.size(), burst);
  if (active.size() > wanted) {
    sort_for_removal(active);
    const std::size_t surplus = std::min(active.size() - wanted, burst);
    for (std::size_t at = 0; at < surplus; ++at)
      plan.remove.emplace_back(sync::wire::name_of(*active[at]));
  }
  return plan;
}

void sort_for_removal(Objects& pods) { std::sort(pods.begin(), pods.end(), goes_before); }

json::object controller_reference(const json::object& owner) {
  return {{"apiVersion", sync::wire::dig_text(owner, {"apiVersion"})},
          {"kind", sync::wire::dig_text(owner, {"kind"})},
          {"name", sync::wire::name_of(owner)},
          {"uid", sync::wire::uid_of(owner)},
          {"controller", true},
          {"blockOwnerDeletion", true}};
}

json::object pod_of(const json::object& owner) {
  const json::object& made_from = sync::wire::dig_object(owner, {"spec", "template"});
  json::object metadata;
  metadata["generateName"] = std::string(sync::wire::name_of(owner)) + "-";
  metadata["namespace"] = sync::wire::namespace_of(owner);
  for (const std::string_view part : {"labels", "annotations", "finalizers"}) {
    const json::value* value = sync::wire::dig(made_from, {"metadata", part});
    if (value != nullptr) metadata[part] = *value;
  }
  metadata["ownerReferences"] = json::array({controller_reference(owner)});
  json::object pod = {{"kind", "Pod"}, {"apiVersion", "v1"}};
  pod["metadata"] = std::move(metadata);
  pod["spec"] = sync::wire::dig_object(made_from, {"spec"});
  return pod;
}

}  // namespace holdfast::agent::lab
