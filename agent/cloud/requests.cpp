#include "agent/cloud/requests.h"

#include <utility>

#include "platform/text.h"
#include "sync/api/codec.h"
#include "sync/lifecycle/names.h"

namespace holdfast::agent {

namespace json = boost::json;
namespace lifecycle = sync::lifecycle;

namespace {

constexpr std::string_view strategic = "application/strategic-merge-patch+json";

std::string node_path(const std::string& name) { return "/api/v1/nodes/" + percent_encode(name); }

std::string pod_path(const lifecycle::PodRef& pod) {
  return "/api/v1/namespaces/" + percent_encode(pod.namespace_name) + "/pods/" +
         percent_encode(pod.name);
}

ApiRequest patch(std::string target, const json::object& body) {
  return {.method = http::Method::patch,
          .target = std::move(target),
          .body = sync::serialize(body),
          .content_type = std::string(strategic)};
}

ApiRequest patch_pod_status(const lifecycle::PodRef& pod, const json::object& status) {
  const json::object body{{"metadata", {{"uid", pod.uid}}}, {"status", status}};
  return patch(pod_path(pod) + "/status", body);
}

}  // namespace

ApiRequest read_node(const std::string& name, bool live) {
  // Version 0 is answered from the server's cache; live from its store.
  return {.target = node_path(name) + (live ? "" : "?resourceVersion=0")};
}

ApiRequest read_lease(const std::string& node) {
  return {.target = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/" +
                    percent_encode(node)};
}

ApiRequest write_conditions(const lifecycle::UpdateNodeStatus& action) {
  json::array conditions;
  for (const sync::NodeCondition& condition : action.conditions) {
    conditions.push_back(sync::encode_part(condition));
  }
  const json::object metadata{{"uid", action.uid}, {"resourceVersion", action.resource_version}};
  const json::object body{{"metadata", metadata}, {"status", {{"conditions", conditions}}}};
  return patch(node_path(action.node) + "/status", body);
}

ApiRequest write_taints(const std::string& node, const std::string& version,
                        const std::vector<sync::Taint>& taints) {
  const json::value list = taints.empty() ? json::value(nullptr) : sync::encode_taints(taints);
  const json::object body{{"metadata", {{"resourceVersion", version}}},
                          {"spec", {{"taints", list}}}};
  return patch(node_path(node), body);
}

ApiRequest write_labels(const lifecycle::PatchLabels& action) {
  json::object labels;
  for (const auto& [name, value] : action.labels) labels[name] = value;
  const json::object body{{"metadata", {{"labels", labels}}}};
  return patch(node_path(action.node), body);
}

ApiRequest mark_not_ready(const lifecycle::MarkPodNotReady& action) {
  // Only status and time: reason and message stay as the kubelet left them.
  const json::object condition{{"type", lifecycle::condition_ready},
                               {"status", lifecycle::status_false},
                               {"lastTransitionTime", format_rfc3339(action.at)}};
  const json::object status{{"conditions", json::array{condition}}};
  return patch_pod_status(action.pod, status);
}

ApiRequest mark_lost(const lifecycle::MarkPodLost& action) {
  const json::object status{{"reason", lifecycle::reason_node_lost}, {"message", action.message}};
  return patch_pod_status(action.pod, status);
}

ApiRequest mark_disrupted(const lifecycle::MarkPodDisrupted& action) {
  const json::object condition{{"type", lifecycle::condition_disruption_target},
                               {"status", lifecycle::status_true},
                               {"reason", lifecycle::reason_taint_deletion},
                               {"message", lifecycle::message_taint_deletion},
                               {"lastTransitionTime", format_rfc3339(action.at)}};
  const json::object status{{"conditions", json::array{condition}}};
  return patch_pod_status(action.pod, status);
}

ApiRequest delete_pod(const lifecycle::DeletePod& action) {
  const json::object body{{"kind", "DeleteOptions"},
                          {"apiVersion", "v1"},
                          {"preconditions", {{"uid", action.pod.uid}}}};
  return {.method = http::Method::remove,
          .target = pod_path(action.pod),
          .body = sync::serialize(body)};
}

}  // namespace holdfast::agent
