#include "agent/edge/cache/outage_readiness.h"

#include <map>

#include "agent/edge/cache/stored_tokens.h"
#include "agent/edge/route/caller.h"
#include "platform/text.h"
#include "sync/autonomy/local_form.h"
#include "sync/node/boot_admission.h"
#include "sync/watch/cached_form.h"
#include "sync/wire/codec.h"

namespace holdfast::agent {
namespace {

namespace json = sync::json;

constexpr std::string_view node_selector = "spec.nodeName=";
constexpr auto count_interval = std::chrono::minutes(1);

bool is_of(const LocalScope& scope, std::string_view group, std::string_view resource) {
  const store::ScopeKey& key = scope.key();
  return key.owner == node_owner && key.group == group && key.resource == resource &&
         scope.cache().complete();
}

json::value read(const LocalScope& scope, const sync::watch::CachedObject& object) {
  const auto text = sync::watch::cached_json(scope.cache().kind(), object.bytes);
  if (!text) return nullptr;
  auto parsed = sync::wire::parse_json(*text);
  return parsed ? *std::move(parsed) : json::value(nullptr);
}

// Only a scope that holds all objects of the resource, or this object by name, proves that the
// object does not exist.
sync::autonomy::LookupResult find_object(const ScopeTable& scopes,
                                         const sync::autonomy::ObjectLookup& wanted) {
  const sync::watch::ObjectKey name{std::string(wanted.namespace_name), std::string(wanted.name)};
  sync::autonomy::LookupResult finding;
  for (const auto& [key, scope] : scopes.all()) {
    if (!is_of(*scope, wanted.group, wanted.resource)) continue;
    if (const sync::watch::CachedObject* object = scope->cache().find(name)) {
      return {.presence = sync::autonomy::Presence::present, .object = read(*scope, *object)};
    }
    const bool here = key.namespace_name.empty() || key.namespace_name == name.namespace_name;
    const bool all =
        key.field_selector.empty() || key.field_selector == "metadata.name=" + name.name;
    if (here && all && key.label_selector.empty())
      finding.presence = sync::autonomy::Presence::absent;
  }
  return finding;
}

// Whether the services are cached, or no component has ever requested them.
bool are_services_known(const ScopeTable& scopes) {
  bool asked = false;
  for (const auto& [key, scope] : scopes.all()) {
    if (key.owner != node_owner || !key.group.empty() || key.resource != "services") continue;
    if (scope->cache().complete()) return true;
    asked = true;
  }
  return !asked;
}

std::string text(const json::value& value, std::initializer_list<std::string_view> path) {
  const json::value* found = &value;
  for (const std::string_view name : path) {
    const json::object* object = found->if_object();
    found = object == nullptr ? nullptr : object->if_contains(name);
    if (found == nullptr) return {};
  }
  const json::string* string = found->if_string();
  return string == nullptr ? std::string() : std::string(*string);
}

std::set<std::string> attached_volumes(const ScopeTable& scopes, const std::string& node_name) {
  std::set<std::string> names;
  for (const auto& [key, scope] : scopes.all()) {
    if (!is_of(*scope, "storage.k8s.io", "volumeattachments")) continue;
    for (const auto& [name, object] : scope->cache().objects()) {
      const json::value attachment = read(*scope, object);
      if (text(attachment, {"spec", "nodeName"}) != node_name) continue;
      names.insert(text(attachment, {"spec", "source", "persistentVolumeName"}));
    }
  }
  return names;
}

// The pods that the kubelet would refuse; none if the Node was never received.
Result<std::map<std::string, std::string, std::less<>>> refused_pods(
    const sync::autonomy::ReadinessInput& knowledge, const LocalScope& pods) {
  std::map<std::string, std::string, std::less<>> refused;
  const auto found = knowledge.find({"", "nodes", "", knowledge.node_name});
  if (found.presence != sync::autonomy::Presence::present || found.object.is_null()) return refused;
  TRY(const sync::Node node, sync::wire::decode<sync::Node>(found.object));
  std::vector<sync::Pod> all;
  for (const auto& [name, object] : pods.cache().objects()) {
    TRY(sync::Pod pod, sync::wire::decode<sync::Pod>(read(pods, object)));
    all.push_back(std::move(pod));
  }
  for (const auto& [uid, why] : sync::node::refused_at_boot(node, std::move(all))) {
    refused[uid] = "the kubelet would refuse it: " + why.reason + ": " + why.message;
  }
  return refused;
}

// The complete list of the node's pods; null if it was never received.
ScopePtr pods_of_node(const ScopeTable& scopes) {
  for (const auto& [key, scope] : scopes.all()) {
    if (is_of(*scope, "", "pods") && key.field_selector.starts_with(node_selector)) return scope;
  }
  return nullptr;
}

json::array json_of(const std::vector<sync::autonomy::Reason>& reasons) {
  json::array all;
  for (const sync::autonomy::Reason& reason : reasons) {
    all.push_back(json::object{{"reason", to_string(reason.obstacle)}, {"text", reason.text}});
  }
  return all;
}

json::object pod_json(const sync::autonomy::PodReadiness& pod) {
  json::object described{{"namespace", pod.namespace_name},
                         {"name", pod.name},
                         {"ready", pod.ready()},
                         {"imagesChecked", pod.images_checked},
                         {"reasons", json_of(pod.reasons)},
                         {"warnings", json_of(pod.warnings)}};
  if (pod.until) described["until"] = format_rfc3339(*pod.until);
  return described;
}

}  // namespace

Result<NodeReadiness> check_node_readiness(ScopeTable& scopes, StoredAnswers& answers,
                                           WallTime now) {
  const ScopePtr pods = pods_of_node(scopes);
  if (!pods) return fail(Errc::unavailable, "the node's list of pods was never received");
  NodeReadiness node{.node_name = pods->key().field_selector.substr(node_selector.size())};
  sync::autonomy::ReadinessInput knowledge{.node_name = node.node_name, .now = now};
  knowledge.find = [&scopes](const sync::autonomy::ObjectLookup& wanted) {
    return find_object(scopes, wanted);
  };
  knowledge.services_known = are_services_known(scopes);
  TRY(const StoredTokens tokens, stored_tokens(answers));
  for (const auto& [key, token] : tokens) knowledge.tokens.push_back(token);
  knowledge.attached = attached_volumes(scopes, node.node_name);
  TRY(knowledge.refused, refused_pods(knowledge, *pods));
  for (const auto& [name, object] : pods->cache().objects()) {
    TRY(auto readiness, check_readiness(read(*pods, object), knowledge));
    if (readiness) node.pods.push_back(*std::move(readiness));
  }
  return node;
}

json::object readiness_json(const Result<NodeReadiness>& readiness, WallTime now) {
  if (!readiness) return {{"known", false}, {"why", readiness.error().what}};
  json::array pods;
  for (const sync::autonomy::PodReadiness& pod : readiness->pods) pods.push_back(pod_json(pod));
  return {{"known", true},
          {"node", readiness->node_name},
          {"checkedAt", format_rfc3339(now)},
          {"pods", std::move(pods)}};
}

json::object OutageReadiness::document() {
  const WallTime now = clock_.wall();
  return readiness_json(check_node_readiness(scopes_, answers_, now), now);
}

const OutageReadiness::Counts& OutageReadiness::counts() {
  const MonoTime now = clock_.mono();
  if (counted_at_ && now - *counted_at_ < count_interval) return counts_;
  counted_at_ = now;
  counts_ = {};
  const auto node = check_node_readiness(scopes_, answers_, clock_.wall());
  if (!node) return counts_;
  counts_.known = true;
  for (const sync::autonomy::PodReadiness& pod : node->pods) {
    ++(pod.ready() ? counts_.ready : counts_.not_ready);
    std::set<sync::autonomy::Obstacle> met;
    for (const sync::autonomy::Reason& reason : pod.reasons) met.insert(reason.obstacle);
    for (const sync::autonomy::Reason& reason : pod.warnings) met.insert(reason.obstacle);
    for (const sync::autonomy::Obstacle each : met)
      ++counts_.by_obstacle.at(static_cast<std::size_t>(each));
  }
  return counts_;
}

}  // namespace holdfast::agent
