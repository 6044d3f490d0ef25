#include "test/cases/effect_performer.h"

#include <utility>

#include "sync/lifecycle/taints.h"
#include "sync/objects/names.h"
#include "sync/wire/codec.h"

namespace holdfast::cases {

namespace lifecycle = sync::lifecycle;
using lifecycle::Outcome;

namespace {

constexpr int taint_tries = 5;

// Overwrites the fields of the condition with this type, or appends the condition.
void set_condition(json::array& conditions, const json::object& condition) {
  for (json::value& old : conditions) {
    if (text(old.as_object(), "type") != text(condition, "type")) continue;
    for (const auto& field : condition) old.as_object()[field.key()] = field.value();
    return;
  }
  conditions.push_back(condition);
}

json::object& child(json::object& object, std::string_view name) {
  json::value& value = object[{name.data(), name.size()}];
  if (!value.is_object()) value.emplace_object();
  return value.get_object();
}

json::array& conditions_of(json::object& object) {
  json::value& value = child(object, "status")["conditions"];
  if (!value.is_array()) value.emplace_array();
  return value.get_array();
}

}  // namespace

Outcome EffectPerformer::perform(const lifecycle::Effect& effect) {
  if (const auto* update = std::get_if<lifecycle::UpdateNodeStatus>(&effect)) {
    return update_status(*update);
  }
  if (const auto* taints = std::get_if<lifecycle::PatchTaints>(&effect)) {
    return patch_taints(*taints);
  }
  if (const auto* labels = std::get_if<lifecycle::PatchLabels>(&effect)) {
    return patch_labels(*labels);
  }
  if (const auto* mark = std::get_if<lifecycle::MarkPodNotReady>(&effect)) {
    return mark_not_ready(*mark);
  }
  if (const auto* lost = std::get_if<lifecycle::MarkPodLost>(&effect)) return mark_lost(*lost);
  if (const auto* marked = std::get_if<lifecycle::MarkPodDisrupted>(&effect)) {
    return mark_disrupted(*marked);
  }
  if (const auto* deletion = std::get_if<lifecycle::DeletePod>(&effect)) return remove(*deletion);
  if (const auto* event = std::get_if<lifecycle::RecordEvent>(&effect)) events_.push_back(*event);
  return {};
}

std::optional<lifecycle::NodeFacts> EffectPerformer::read_node(const std::string& name) const {
  const json::object* object = server_.find_object("Node", "", name);
  if (object == nullptr) return std::nullopt;
  const auto node = sync::wire::decode<sync::Node>(*object);
  if (!node) return std::nullopt;
  return lifecycle::facts_of(*node, options_);
}

Outcome EffectPerformer::update_status(const lifecycle::UpdateNodeStatus& effect) {
  const auto error = server_.ask({"update", "nodes", "status", "", effect.node});
  if (error) {
    // Like upstream, read the node again from the server after any error.
    const auto unreadable = server_.ask({"get", "nodes", "", "", effect.node});
    return {error, unreadable ? std::nullopt : read_node(effect.node)};
  }
  json::object node = *server_.find_object("Node", "", effect.node);
  for (const sync::NodeCondition& condition : effect.conditions) {
    set_condition(conditions_of(node), sync::wire::encode_part(condition));
  }
  server_.store(std::move(node));
  return {std::nullopt, read_node(effect.node)};
}

Outcome EffectPerformer::patch_taints(const lifecycle::PatchTaints& effect) {
  for (int attempt = 1;; ++attempt) {
    const auto unreadable = server_.ask({"get", "nodes", "", "", effect.node});
    if (unreadable) return {unreadable, {}};
    const std::vector<sync::Taint> before = read_node(effect.node)->taints;
    const std::vector<sync::Taint> after = lifecycle::taints_after(before, effect);
    if (after == before) return {};
    const auto error = server_.ask({"patch", "nodes", "", "", effect.node});
    if (error == Errc::conflict && attempt < taint_tries) continue;
    if (error) return {error, {}};
    json::object node = *server_.find_object("Node", "", effect.node);
    child(node, "spec")["taints"] = sync::wire::encode_taints(after);
    server_.store(std::move(node));
    return {std::nullopt, read_node(effect.node)};
  }
}

Outcome EffectPerformer::patch_labels(const lifecycle::PatchLabels& effect) {
  const auto error = server_.ask({"patch", "nodes", "", "", effect.node});
  if (error) return {error, {}};
  json::object node = *server_.find_object("Node", "", effect.node);
  json::object& labels = child(child(node, "metadata"), "labels");
  for (const auto& [name, value] : effect.labels) labels[name] = value;
  server_.store(std::move(node));
  return {};
}

std::optional<Errc> EffectPerformer::ask_pod(std::string_view verb, std::string_view subresource,
                                             const lifecycle::PodRef& pod) {
  return server_.ask(
      {std::string(verb), "pods", std::string(subresource), pod.namespace_name, pod.name});
}

Outcome EffectPerformer::mark_not_ready(const lifecycle::MarkPodNotReady& effect) {
  if (const auto error = ask_pod("update", "status", effect.pod)) return {error, {}};
  json::object pod = *server_.find_object("Pod", effect.pod.namespace_name, effect.pod.name);
  const json::object condition{
      {"type", "Ready"}, {"status", "False"}, {"lastTransitionTime", format_rfc3339(effect.at)}};
  set_condition(conditions_of(pod), condition);
  server_.store(std::move(pod));
  return {};
}

Outcome EffectPerformer::mark_lost(const lifecycle::MarkPodLost& effect) {
  if (const auto error = ask_pod("update", "status", effect.pod)) return {error, {}};
  json::object pod = *server_.find_object("Pod", effect.pod.namespace_name, effect.pod.name);
  json::object& status = child(pod, "status");
  status["reason"] = std::string(sync::objects::reason_node_lost);
  status["message"] = effect.message;
  server_.store(std::move(pod));
  return {};
}

Outcome EffectPerformer::mark_disrupted(const lifecycle::MarkPodDisrupted& effect) {
  if (const auto error = ask_pod("patch", "status", effect.pod)) return {error, {}};
  json::object pod = *server_.find_object("Pod", effect.pod.namespace_name, effect.pod.name);
  const json::object condition{{"type", std::string(sync::objects::condition_disruption_target)},
                               {"status", lifecycle::disruption_status(effect)},
                               {"reason", std::string(sync::objects::reason_taint_deletion)},
                               {"message", lifecycle::disruption_message(effect)},
                               {"lastTransitionTime", format_rfc3339(effect.at)}};
  set_condition(conditions_of(pod), condition);
  server_.store(std::move(pod));
  return {};
}

Outcome EffectPerformer::remove(const lifecycle::DeletePod& effect) {
  if (const auto error = ask_pod("delete", "", effect.pod)) return {error, {}};
  const json::object* pod = server_.find_object("Pod", effect.pod.namespace_name, effect.pod.name);
  if (text(object_in(*pod, "metadata"), "uid") != effect.pod.uid) return {Errc::conflict, {}};
  server_.delete_pod(effect.pod.namespace_name, effect.pod.name, format_rfc3339(wall_));
  return {};
}

}  // namespace holdfast::cases
