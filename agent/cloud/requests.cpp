#include "agent/cloud/requests.h"

#include <utility>

#include "platform/text.h"
#include "sync/objects/names.h"
#include "sync/wire/codec.h"

namespace holdfast::agent {

namespace json = boost::json;
namespace lifecycle = sync::lifecycle;

namespace {

constexpr std::string_view strategic = "application/strategic-merge-patch+json";
constexpr std::string_view attachments_path = "/apis/storage.k8s.io/v1/volumeattachments";

std::string node_path(const std::string& name) { return "/api/v1/nodes/" + percent_encode(name); }

std::string pod_path(const lifecycle::PodRef& pod) {
  return "/api/v1/namespaces/" + percent_encode(pod.namespace_name) + "/pods/" +
         percent_encode(pod.name);
}

ApiRequest patch(std::string target, const json::object& body) {
  return {.method = http::Method::patch,
          .target = std::move(target),
          .body = sync::wire::serialize(body),
          .content_type = std::string(strategic)};
}

ApiRequest patch_pod_status(const lifecycle::PodRef& pod, const json::object& status) {
  const json::object body{{"metadata", {{"uid", pod.uid}}}, {"status", status}};
  return patch(pod_path(pod) + "/status", body);
}

ApiRequest remove(std::string target, const std::string& uid, bool at_once) {
  json::object body{
      {"kind", "DeleteOptions"}, {"apiVersion", "v1"}, {"preconditions", {{"uid", uid}}}};
  if (at_once) body["gracePeriodSeconds"] = 0;
  return {.method = http::Method::remove,
          .target = std::move(target),
          .body = sync::wire::serialize(body)};
}

}  // namespace

ApiRequest read_node(const std::string& name, bool live) {
  // resourceVersion=0 may be answered from the server's watch cache; without it etcd is read.
  return {.target = node_path(name) + (live ? "" : "?resourceVersion=0")};
}

ApiRequest read_lease(const std::string& node) {
  return {.target = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/" +
                    percent_encode(node)};
}

ApiRequest write_conditions(const lifecycle::UpdateNodeStatus& effect) {
  json::array conditions;
  for (const sync::NodeCondition& condition : effect.conditions) {
    conditions.push_back(sync::wire::encode_part(condition));
  }
  const json::object metadata{{"uid", effect.uid}, {"resourceVersion", effect.resource_version}};
  const json::object body{{"metadata", metadata}, {"status", {{"conditions", conditions}}}};
  return patch(node_path(effect.node) + "/status", body);
}

ApiRequest write_taints(const std::string& node, const std::string& version,
                        const std::vector<sync::Taint>& taints) {
  const json::value list =
      taints.empty() ? json::value(nullptr) : sync::wire::encode_taints(taints);
  const json::object body{{"metadata", {{"resourceVersion", version}}},
                          {"spec", {{"taints", list}}}};
  return patch(node_path(node), body);
}

ApiRequest write_labels(const lifecycle::PatchLabels& effect) {
  json::object labels;
  for (const auto& [name, value] : effect.labels) labels[name] = value;
  const json::object body{{"metadata", {{"labels", labels}}}};
  return patch(node_path(effect.node), body);
}

ApiRequest mark_not_ready(const lifecycle::MarkPodNotReady& effect) {
  // Only status and time: reason and message stay as the kubelet left them.
  const json::object condition{{"type", sync::objects::condition_ready},
                               {"status", sync::objects::status_false},
                               {"lastTransitionTime", format_rfc3339(effect.at)}};
  const json::object status{{"conditions", json::array{condition}}};
  return patch_pod_status(effect.pod, status);
}

ApiRequest mark_lost(const lifecycle::MarkPodLost& effect) {
  const json::object status{{"reason", sync::objects::reason_node_lost},
                            {"message", effect.message}};
  return patch_pod_status(effect.pod, status);
}

ApiRequest mark_disrupted(const lifecycle::MarkPodDisrupted& effect) {
  const json::object condition{{"type", sync::objects::condition_disruption_target},
                               {"status", lifecycle::disruption_status(effect)},
                               {"reason", sync::objects::reason_taint_deletion},
                               {"message", lifecycle::disruption_message(effect)},
                               {"lastTransitionTime", format_rfc3339(effect.at)}};
  const json::object status{{"conditions", json::array{condition}}};
  return patch_pod_status(effect.pod, status);
}

ApiRequest delete_pod(const lifecycle::DeletePod& effect) {
  return remove(pod_path(effect.pod), effect.pod.uid, effect.forced.has_value());
}

ApiRequest evict_pod(const lifecycle::EvictPod& effect) {
  const lifecycle::PodRef& pod = effect.pod;
  const json::object body{{"kind", "Eviction"},
                          {"apiVersion", "policy/v1"},
                          {"metadata", {{"name", pod.name}, {"namespace", pod.namespace_name}}},
                          {"deleteOptions", {{"preconditions", {{"uid", pod.uid}}}}}};
  return {.method = http::Method::post,
          .target = pod_path(pod) + "/eviction",
          .body = sync::wire::serialize(body)};
}

ApiRequest fail_pod(const lifecycle::FailPod& effect) {
  return patch_pod_status(effect.pod, {{"phase", "Failed"}});
}

ApiRequest read_pod(const lifecycle::PodRef& pod) { return {.target = pod_path(pod)}; }

ApiRequest write_binding(const lifecycle::PodRef& pod, const std::string& version,
                         const lifecycle::PodBinding& binding) {
  sync::PodSpec spec;
  spec.tolerations = binding.tolerations;
  json::object annotations;
  for (const auto& [name, value] : lifecycle::originals_of(binding.annotations)) {
    annotations[name] = value;
  }
  const json::object metadata{
      {"uid", pod.uid}, {"resourceVersion", version}, {"annotations", annotations}};
  const json::object body{
      {"metadata", metadata},
      {"spec", {{"tolerations", sync::wire::encode_part(spec).at("tolerations")}}}};
  return {.method = http::Method::patch,
          .target = pod_path(pod),
          .body = sync::wire::serialize(body),
          .content_type = "application/merge-patch+json"};
}

ApiRequest delete_node(const lifecycle::DeleteNode& effect) {
  return remove(node_path(effect.node), effect.uid, false);
}

ApiRequest list_attachments() { return {.target = std::string(attachments_path)}; }

ApiRequest delete_attachment(const std::string& name, const std::string& uid) {
  return remove(std::string(attachments_path) + "/" + percent_encode(name), uid, false);
}

}  // namespace holdfast::agent
