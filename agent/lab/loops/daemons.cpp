#include "agent/lab/loops/daemons.h"

#include <algorithm>
#include <boost/json.hpp>
#include <map>

#include "agent/lab/loops/rollout.h"
#include "agent/lab/rules/matching.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

constexpr std::string_view generation_label = "controller-revision-hash";

// The node of a DaemonSet's pod: where it runs, or the node in its affinity.
std::string_view node_of(const json::object& pod) {
  const std::string_view bound = sync::wire::dig_text(pod, {"spec", "nodeName"});
  if (!bound.empty()) return bound;
  const json::object& required = sync::wire::dig_object(
      pod, {"spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"});
  for (const json::value& term : sync::wire::dig_list(required, {"nodeSelectorTerms"})) {
    for (const json::value& field :
         sync::wire::dig_list(sync::wire::as_object(term), {"matchFields"})) {
      const json::array& values = sync::wire::dig_list(sync::wire::as_object(field), {"values"});
      const bool name =
          sync::wire::dig_text(sync::wire::as_object(field), {"key"}) == "metadata.name";
      if (name && values.size() == 1) return sync::wire::as_text(values[0]);
    }
  }
  return {};
}

json::object toleration(std::string_view key, std::string_view effect) {
  return {{"key", key}, {"operator", "Exists"}, {"effect", effect}};
}

void add_tolerations(json::object& spec) {
  json::value& list = spec["tolerations"];
  if (!list.is_array()) list.emplace_array();
  for (const std::string_view key :
       {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
    list.get_array().push_back(toleration(key, "NoExecute"));
  }
  for (const std::string_view key :
       {"node.kubernetes.io/disk-pressure", "node.kubernetes.io/memory-pressure",
        "node.kubernetes.io/pid-pressure", "node.kubernetes.io/unschedulable"}) {
    list.get_array().push_back(toleration(key, "NoSchedule"));
  }
  if (sync::wire::dig_bool(spec, {"hostNetwork"})) {
    list.get_array().push_back(toleration("node.kubernetes.io/network-unavailable", "NoSchedule"));
  }
}

void bind_by_affinity(json::object& spec, std::string_view node) {
  const json::object field = {
      {"key", "metadata.name"}, {"operator", "In"}, {"values", json::array({json::value(node)})}};
  json::object& required = sync::wire::make_object(
      spec, {"affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"});
  json::value& terms = required["nodeSelectorTerms"];
  if (!terms.is_array() || terms.get_array().empty()) terms = json::array({json::object()});
  for (json::value& term : terms.get_array()) {
    if (term.is_object()) term.get_object()["matchFields"] = json::array({field});
  }
}

struct Count {
  std::int64_t wanted = 0;
  std::int64_t current = 0;
  std::int64_t misplaced = 0;
  std::int64_t ready = 0;
  std::int64_t updated = 0;
};

json::object report(const json::object& set, const Count& count) {
  json::object status = sync::wire::dig_object(set, {"status"});
  status["currentNumberScheduled"] = count.current;
  status["numberMisscheduled"] = count.misplaced;
  status["desiredNumberScheduled"] = count.wanted;
  status["numberReady"] = count.ready;
  status["observedGeneration"] = sync::wire::dig_int(set, {"metadata", "generation"});
  status["updatedNumberScheduled"] = count.updated;
  status["numberAvailable"] = count.ready;
  status["numberUnavailable"] = std::max<std::int64_t>(count.wanted - count.ready, 0);
  return status;
}

// Removes pods of an old template that are not ready, and ready ones as far as maxUnavailable
// allows.
void replace_outdated(DaemonPlan& plan, const json::object& set, const Objects& outdated,
                      const Count& count) {
  if (sync::wire::dig_text(set, {"spec", "updateStrategy", "type"}) != "RollingUpdate") return;
  const json::value* bound =
      sync::wire::dig(set, {"spec", "updateStrategy", "rollingUpdate", "maxUnavailable"});
  std::int64_t room = scaled(bound, count.wanted, true) - (count.wanted - count.ready);
  for (const json::object* pod : outdated) {
    const bool ready = is_ready(*pod);
    if (ready && room <= 0) continue;
    if (ready) --room;
    plan.remove.emplace_back(sync::wire::name_of(*pod));
  }
}

}  // namespace

json::object daemon_pod(const json::object& set, std::string_view node) {
  json::object pod = pod_of(set);
  json::object& spec = sync::wire::make_object(pod, {"spec"});
  add_tolerations(spec);
  bind_by_affinity(spec, node);
  sync::wire::make_object(pod, {"metadata", "labels"})[generation_label] = template_hash(set);
  return pod;
}

DaemonPlan plan_daemons(const json::object& set, const Objects& pods, const Objects& nodes) {
  DaemonPlan plan;
  Count count;
  std::map<std::string_view, Objects> by_node;
  for (const json::object* pod : pods) {
    // A finished pod is replaced; for a terminating one we wait.
    if (is_finished(*pod) && !sync::wire::is_terminating(*pod))
      plan.remove.emplace_back(sync::wire::name_of(*pod));
    by_node[node_of(*pod)].push_back(pod);
  }
  const std::string hash = template_hash(set);
  Objects outdated;
  for (const json::object* node : nodes) {
    const json::object pod = daemon_pod(set, sync::wire::name_of(*node));
    const bool meant = wants_node(pod, *node) && untolerated_taint(pod, *node) == nullptr;
    const auto there = by_node.find(sync::wire::name_of(*node));
    const bool has = there != by_node.end();
    if (meant) ++count.wanted;
    if (meant && !has && !sync::wire::is_terminating(set))
      plan.create_on.emplace_back(sync::wire::name_of(*node));
    if (!has) continue;
    ++(meant ? count.current : count.misplaced);
    for (const json::object* running : there->second) {
      if (!is_active(*running)) continue;
      const json::object& labels = sync::wire::dig_object(*running, {"metadata", "labels"});
      const bool updated = sync::wire::dig_text(labels, {generation_label}) == hash;
      // Running pods that would only be kept out by a NoSchedule taint stay.
      const json::object* taint = untolerated_taint(pod, *node);
      const bool stays = meant || (taint != nullptr && wants_node(pod, *node) &&
                                   sync::wire::dig_text(*taint, {"effect"}) == "NoSchedule");
      if (!stays) plan.remove.emplace_back(sync::wire::name_of(*running));
      if (meant && is_ready(*running)) ++count.ready;
      if (meant && updated) ++count.updated;
      if (stays && !updated) outdated.push_back(running);
    }
  }
  plan.status = report(set, count);
  replace_outdated(plan, set, outdated, count);
  return plan;
}

}  // namespace holdfast::agent::lab
