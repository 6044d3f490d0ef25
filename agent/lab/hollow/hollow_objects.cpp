#include "agent/lab/hollow/hollow_objects.h"

#include "sync/wire/json.h"

namespace holdfast::agent {
namespace {

namespace json = sync::json;

json::object node_condition(const char* type, const char* status, const char* reason,
                            WallTime now) {
  return {{"type", type},
          {"status", status},
          {"reason", reason},
          {"lastHeartbeatTime", format_rfc3339(now)},
          {"lastTransitionTime", format_rfc3339(now)}};
}

json::object toleration(const char* key, int seconds) {
  return {{"key", key},
          {"operator", "Exists"},
          {"effect", "NoExecute"},
          {"tolerationSeconds", seconds}};
}

}  // namespace

std::string hollow_node(const std::string& name, const std::string& zone) {
  const json::object labels{{"kubernetes.io/hostname", name},
                            {"topology.kubernetes.io/zone", zone}};
  return sync::wire::serialize(
      json::object{{"apiVersion", "v1"},
                   {"kind", "Node"},
                   {"metadata", json::object{{"name", name}, {"labels", labels}}}});
}

std::string hollow_node_status(WallTime now) {
  const json::array conditions{
      node_condition("Ready", "True", "KubeletReady", now),
      node_condition("MemoryPressure", "False", "KubeletHasSufficientMemory", now),
      node_condition("DiskPressure", "False", "KubeletHasNoDiskPressure", now),
      node_condition("PIDPressure", "False", "KubeletHasSufficientPID", now)};
  const json::object room{{"cpu", "4"}, {"memory", "8Gi"}, {"pods", "110"}};
  return sync::wire::serialize(json::object{
      {"status",
       json::object{{"capacity", room}, {"allocatable", room}, {"conditions", conditions}}}});
}

std::string hollow_lease(const std::string& node, std::int32_t duration_seconds, WallTime now) {
  return sync::wire::serialize(
      json::object{{"apiVersion", "coordination.k8s.io/v1"},
                   {"kind", "Lease"},
                   {"metadata", json::object{{"name", node}}},
                   {"spec", json::object{{"holderIdentity", node},
                                         {"leaseDurationSeconds", duration_seconds},
                                         {"renewTime", format_rfc3339(now, TimeDigits::micros)}}}});
}

std::string hollow_renewal(const std::string& version, WallTime now) {
  const json::object spec{{"renewTime", format_rfc3339(now, TimeDigits::micros)}};
  return sync::wire::serialize(
      json::object{{"metadata", json::object{{"resourceVersion", version}}}, {"spec", spec}});
}

std::string hollow_pod(const std::string& name, const std::string& node, const std::string& zone,
                       int patience_seconds) {
  const json::array tolerations{toleration("node.kubernetes.io/unreachable", patience_seconds),
                                toleration("node.kubernetes.io/not-ready", patience_seconds)};
  const json::array containers{json::object{{"name", "main"}, {"image", "none"}}};
  const json::object labels{{hollow_zone_label, zone}};
  return sync::wire::serialize(
      json::object{{"apiVersion", "v1"},
                   {"kind", "Pod"},
                   {"metadata", json::object{{"name", name}, {"labels", labels}}},
                   {"spec", json::object{{"nodeName", node},
                                         {"terminationGracePeriodSeconds", 2},
                                         {"tolerations", tolerations},
                                         {"containers", containers}}}});
}

std::string hollow_pod_status(WallTime now) {
  const json::object ready{
      {"type", "Ready"}, {"status", "True"}, {"lastTransitionTime", format_rfc3339(now)}};
  const json::object status{{"phase", "Running"}, {"conditions", json::array{ready}}};
  return sync::wire::serialize(json::object{{"status", status}});
}

}  // namespace holdfast::agent
