#include "agent/lab/demo/constants.h"

#include "sync/wire/json.h"

namespace holdfast::agent::demo {
namespace {

namespace json = sync::json;

json::object toleration(const char* key) {
  return {{"key", key},
          {"operator", "Exists"},
          {"effect", "NoExecute"},
          {"tolerationSeconds", std::stoi(eviction_patience)}};
}

// A shell that prints a line each second and exits on SIGTERM.
json::object container() {
  const char* script =
      "trap 'echo \"$GREETING: told to stop\"; exit 0' TERM; n=0; "
      "while :; do n=$((n+1)); echo \"$GREETING $n\"; sleep 1 & wait $!; done";
  const json::object from = {
      {"configMapKeyRef", json::object{{"name", "greeting"}, {"key", "text"}}}};
  return {{"name", "main"},
          {"image", "none"},
          {"command", json::array{"/bin/sh", "-c", script}},
          {"env", json::array{json::object{{"name", "GREETING"}, {"valueFrom", from}}}}};
}

json::object pod_template(const char* app, bool evictable) {
  json::object spec = {{"terminationGracePeriodSeconds", 2},
                       {"containers", json::array{container()}}};
  if (evictable) {
    spec["tolerations"] = json::array{toleration("node.kubernetes.io/unreachable"),
                                      toleration("node.kubernetes.io/not-ready")};
  }
  return {{"metadata", json::object{{"labels", json::object{{"app", app}}}}}, {"spec", spec}};
}

json::object workload(const char* kind, const char* name, bool evictable) {
  const json::object selector = {{"matchLabels", json::object{{"app", name}}}};
  return {
      {"apiVersion", "apps/v1"},
      {"kind", kind},
      {"metadata", json::object{{"name", name}}},
      {"spec", json::object{{"selector", selector}, {"template", pod_template(name, evictable)}}}};
}

json::object with_cpu(json::object spec, std::int64_t milli_cpu) {
  json::object& main = spec["containers"].as_array()[0].as_object();
  main["resources"] =
      json::object{{"requests", json::object{{"cpu", std::to_string(milli_cpu) + "m"}}}};
  return spec;
}

Manifest bare_pod(const std::string& name, json::object spec) {
  const json::object labels = {{"app", name}};
  const json::object pod = {{"apiVersion", "v1"},
                            {"kind", "Pod"},
                            {"metadata", json::object{{"name", name}, {"labels", labels}}},
                            {"spec", std::move(spec)}};
  return {"/api/v1/namespaces/default/pods", name, sync::wire::serialize(pod)};
}

json::object bare_spec(std::int64_t milli_cpu) {
  return with_cpu(pod_template("", false)["spec"].as_object(), milli_cpu);
}

}  // namespace

std::vector<Manifest> filler_pods(std::int64_t milli_cpu, const DemoSetup& setup) {
  const json::object priority = {{"apiVersion", "scheduling.k8s.io/v1"},
                                 {"kind", "PriorityClass"},
                                 {"metadata", json::object{{"name", "important"}}},
                                 {"value", 1000}};
  json::object lesser = workload("Deployment", setup.lesser.c_str(), false);
  json::object& spec = lesser["spec"].as_object();
  spec["replicas"] = setup.lesser_replicas;
  json::object& made = spec["template"].as_object();
  made["spec"] = with_cpu(made["spec"].as_object(), milli_cpu * 2 / 5);
  const json::object selector = {{"matchLabels", json::object{{"app", setup.guarded}}}};
  const json::object budget = {{"apiVersion", "policy/v1"},
                               {"kind", "PodDisruptionBudget"},
                               {"metadata", json::object{{"name", setup.guarded}}},
                               {"spec", json::object{{"minAvailable", 1}, {"selector", selector}}}};
  return {
      {"/apis/scheduling.k8s.io/v1/priorityclasses", "important", sync::wire::serialize(priority)},
      {"/apis/policy/v1/namespaces/default/poddisruptionbudgets", setup.guarded,
       sync::wire::serialize(budget)},
      {"/apis/apps/v1/namespaces/default/deployments", setup.lesser, sync::wire::serialize(lesser)},
      bare_pod(setup.guarded, bare_spec(milli_cpu / 5))};
}

Manifest important_pod(std::int64_t milli_cpu, const DemoSetup& setup) {
  json::object spec = bare_spec(milli_cpu * 3 / 5);
  spec["priorityClassName"] = "important";
  spec["nodeSelector"] = json::object{{"kubernetes.io/hostname", setup.connected}};
  return bare_pod(setup.important, std::move(spec));
}

const Flags& edge_constants() {
  static const Flags flags = {{"lease-renew-interval", "1s"}, {"lease-duration", "6s"},
                              {"probe-deadline", "500ms"},    {"probe-backoff-min", "200ms"},
                              {"probe-backoff-max", "1s"},    {"rejoin-jitter", "500ms"},
                              {"read-deadline", "1s"},        {"bookmark-interval", "2s"}};
  return flags;
}

const Flags& node_constants() {
  static const Flags flags = {
      {"status-interval", "1s"}, {"lease-renew-interval", "1s"}, {"lease-duration", "6s"}};
  return flags;
}

const Flags& cloud_constants() {
  static const Flags flags = {{"node-monitor-period", "500ms"},
                              {"node-monitor-grace-period", "6s"},
                              {"node-startup-grace-period", "10s"},
                              {"node-lease-duration", "6s"},
                              {"node-eviction-rate", "0.5"},
                              {"leader-elect", "false"},
                              {"secure-port", "0"}};
  return flags;
}

std::vector<Manifest> manifests(int replicas) {
  const json::object greeting = {{"apiVersion", "v1"},
                                 {"kind", "ConfigMap"},
                                 {"metadata", json::object{{"name", "greeting"}}},
                                 {"data", json::object{{"text", "still here"}}}};
  json::object deployment = workload("Deployment", web_name, true);
  deployment["spec"].as_object()["replicas"] = replicas;
  const json::object daemons = workload("DaemonSet", "probe", false);
  return {
      {"/api/v1/namespaces/default/configmaps", "greeting", sync::wire::serialize(greeting)},
      {"/apis/apps/v1/namespaces/default/deployments", web_name, sync::wire::serialize(deployment)},
      {"/apis/apps/v1/namespaces/default/daemonsets", "probe", sync::wire::serialize(daemons)}};
}

}  // namespace holdfast::agent::demo
