#include "agent/lab/demo/constants.h"

#include "sync/api/json.h"

namespace holdfast::agent::demo {
namespace {

namespace json = sync::json;

json::object toleration(const char* key) {
  return {{"key", key},
          {"operator", "Exists"},
          {"effect", "NoExecute"},
          {"tolerationSeconds", std::stoi(eviction_patience)}};
}

// A shell that says something each second, and goes when it is told to.
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

}  // namespace

const Flags& edge_constants() {
  static const Flags flags = {
      {"lease-renew-interval", "1s"}, {"lease-duration", "6s"},    {"probe-deadline", "500ms"},
      {"probe-backoff-min", "200ms"}, {"probe-backoff-max", "1s"}, {"rejoin-jitter", "500ms"},
      {"status-interval", "1s"},      {"read-deadline", "1s"},     {"bookmark-interval", "2s"}};
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

std::vector<std::string> as_arguments(const Flags& flags) {
  std::vector<std::string> arguments;
  for (const auto& [name, value] : flags) arguments.push_back("--" + name + "=" + value);
  return arguments;
}

std::vector<Manifest> manifests(int replicas) {
  const json::object greeting = {{"apiVersion", "v1"},
                                 {"kind", "ConfigMap"},
                                 {"metadata", json::object{{"name", "greeting"}}},
                                 {"data", json::object{{"text", "still here"}}}};
  json::object deployment = workload("Deployment", "web", true);
  deployment["spec"].as_object()["replicas"] = replicas;
  const json::object daemons = workload("DaemonSet", "probe", false);
  return {{"/api/v1/namespaces/default/configmaps", "greeting", sync::serialize(greeting)},
          {"/apis/apps/v1/namespaces/default/deployments", "web", sync::serialize(deployment)},
          {"/apis/apps/v1/namespaces/default/daemonsets", "probe", sync::serialize(daemons)}};
}

std::string kubeconfig(std::uint16_t port) {
  return "apiVersion: v1\nkind: Config\ncurrent-context: lab\n"
         "clusters:\n- name: lab\n  cluster:\n    server: http://127.0.0.1:" +
         std::to_string(port) +
         "\ncontexts:\n- name: lab\n  context:\n    cluster: lab\n    user: lab\n"
         "users:\n- name: lab\n  user: {}\n";
}

}  // namespace holdfast::agent::demo
