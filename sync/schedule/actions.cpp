#include "sync/schedule/actions.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "sync/wire/codec.h"

namespace holdfast::sync::schedule {

PodKey key_of(const PodView& pod) { return {pod.namespace_name(), pod.name(), pod.uid()}; }

std::string patch_body(const PatchPodStatus& patch) {
  json::object status;
  if (patch.condition) {
    json::array order;
    for (const std::string& type : patch.condition_order) {
      json::object entry;
      entry["type"] = type;
      order.push_back(std::move(entry));
    }
    status["$setElementOrder/conditions"] = std::move(order);
    json::array conditions;
    conditions.push_back(wire::encode_part(*patch.condition));
    status["conditions"] = std::move(conditions);
  }
  if (patch.nominated_node) {
    json::value node = nullptr;
    if (!patch.nominated_node->empty()) node = json::value(*patch.nominated_node);
    status["nominatedNodeName"] = std::move(node);
  }
  json::object metadata;
  metadata["uid"] = patch.pod.uid;
  json::object body;
  body["metadata"] = std::move(metadata);
  body["status"] = std::move(status);
  return wire::serialize(body);
}

std::string patch_body(const ClearNomination&) {
  json::object status;
  status["nominatedNodeName"] = nullptr;
  json::object body;
  body["status"] = std::move(status);
  return wire::serialize(body);
}

std::optional<PodCondition> changed_condition(const PodStatus& status, PodCondition wanted,
                                              WallTime now) {
  wanted.last_transition_time = now;
  const PodCondition* old = find_condition(status, wanted.type);
  if (old == nullptr) return wanted;
  if (old->status == wanted.status) wanted.last_transition_time = old->last_transition_time;
  wanted.unknown_fields = old->unknown_fields;
  if (*old == wanted) return std::nullopt;
  return wanted;
}

std::vector<std::string> condition_order(const PodStatus& status, const std::string& added) {
  std::vector<std::string> order;
  order.reserve(status.conditions.size() + 1);
  for (const PodCondition& condition : status.conditions) order.push_back(condition.type);
  if (find_condition(status, added) == nullptr) order.push_back(added);
  return order;
}

std::string event_note(const std::string& message) {
  constexpr std::size_t note_max = 1024;  // events.k8s.io's validation
  if (message.size() <= note_max) return message;
  constexpr std::string_view cut = " ...";
  return message.substr(0, note_max - cut.size()) + std::string(cut);
}

}  // namespace holdfast::sync::schedule
