// Upstream's default values, kind by kind.

#include "agent/lab/rules/defaults.h"

#include <boost/json.hpp>

#include "agent/lab/rules/decode.h"
#include "sync/wire/read.h"

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

struct DefaultsCase {
  std::string name;
  std::string group;
  std::string kind;
  std::string given;
  std::string at;  // the part to compare: "/spec"
  std::string expect;
};

class DefaultsCases : public testing::TestWithParam<DefaultsCase> {};

TEST_P(DefaultsCases, AreUpstreams) {
  const DefaultsCase& c = GetParam();
  const sync::printing::Resource* resource = sync::printing::find_kind(c.group, c.kind);
  ASSERT_NE(resource, nullptr);
  const json::value made = canonical(*resource, json::parse(c.given).as_object());
  EXPECT_EQ(json::serialize(made.at_pointer(c.at)), c.expect);
  // Applying the defaults again changes nothing.
  EXPECT_EQ(canonical(*resource, made.as_object()), made.as_object());
}

const DefaultsCase defaults_cases[] = {
    {"pull_policy_of_a_tag", "", "Pod", R"({"spec":{"containers":[{"image":"x:1"}]}})",
     "/spec/containers/0/imagePullPolicy", R"("IfNotPresent")"},
    {"pull_policy_of_latest", "", "Pod",
     R"({"spec":{"containers":[{"image":"host:5000/x:latest"}]}})",
     "/spec/containers/0/imagePullPolicy", R"("Always")"},
    {"pull_policy_of_a_port_without_tag", "", "Pod",
     R"({"spec":{"containers":[{"image":"host:5000/x"}]}})", "/spec/containers/0/imagePullPolicy",
     R"("Always")"},
    {"probe", "", "Pod", R"({"spec":{"containers":[{"livenessProbe":{"httpGet":{"port":80}}}]}})",
     "/spec/containers/0/livenessProbe",
     R"({"httpGet":{"path":"/","port":80,"scheme":"HTTP"},"timeoutSeconds":1,)"
     R"("periodSeconds":10,"successThreshold":1,"failureThreshold":3})"},
    {"requests_from_limits", "", "Pod",
     R"({"spec":{"containers":[{"resources":{"limits":{"cpu":"1","memory":"1Gi"},)"
     R"("requests":{"cpu":"500m"}}}]}})",
     "/spec/containers/0/resources/requests", R"({"cpu":"500m","memory":"1Gi"})"},
    {"volume_sources", "", "Pod",
     R"({"spec":{"volumes":[{"name":"a"},{"name":"b","secret":{"secretName":"s"}},)"
     R"({"name":"c","hostPath":{"path":"/x"}},)"
     R"({"name":"d","projected":{"sources":[{"serviceAccountToken":{"path":"t"}}]}}]}})",
     "/spec/volumes",
     R"([{"name":"a","emptyDir":{}},{"name":"b","secret":{"secretName":"s","defaultMode":420}},)"
     R"({"name":"c","hostPath":{"path":"/x","type":""}},)"
     R"({"name":"d","projected":{"sources":[{"serviceAccountToken":{"expirationSeconds":3600,)"
     R"("path":"t"}}],"defaultMode":420}}])"},
    {"host_ports", "", "Pod",
     R"({"spec":{"hostNetwork":true,"containers":[{"ports":[{"containerPort":80}]}]}})",
     "/spec/containers/0/ports", R"([{"hostPort":80,"containerPort":80,"protocol":"TCP"}])"},
    {"pod_addresses", "", "Pod", R"({"status":{"podIP":"10.0.0.1"}})", "/status/podIPs",
     R"([{"ip":"10.0.0.1"}])"},
    {"old_name_of_the_account", "", "Pod", R"({"spec":{"serviceAccount":"a"}})",
     "/spec/serviceAccountName", R"("a")"},
    {"service", "", "Service", R"({"spec":{"type":"NodePort","ports":[{"port":80}]}})", "/spec",
     R"({"ports":[{"protocol":"TCP","port":80,"targetPort":80}],"type":"NodePort",)"
     R"("sessionAffinity":"None","externalTrafficPolicy":"Cluster"})"},
    {"secret", "", "Secret", R"({"data":{"a":"QQ=="},"stringData":{"b":"B"}})", "/data",
     R"({"a":"QQ==","b":"Qg=="})"},
    {"node_allocatable", "", "Node", R"({"status":{"capacity":{"cpu":"4"}}})",
     "/status/allocatable", R"({"cpu":"4"})"},
    {"node_cidrs", "", "Node", R"({"spec":{"podCIDRs":["10.1.0.0/24"]}})", "/spec/podCIDR",
     R"("10.1.0.0/24")"},
    {"daemon_set", "apps", "DaemonSet", "{}", "/spec/updateStrategy",
     R"({"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":1,"maxSurge":0}})"},
    {"recreate_has_no_rolling_update", "apps", "Deployment",
     R"({"spec":{"strategy":{"type":"Recreate"}}})", "/spec/strategy", R"({"type":"Recreate"})"},
    {"csi_driver", "storage.k8s.io", "CSIDriver", "{}", "/spec",
     R"({"attachRequired":true,"podInfoOnMount":false,"volumeLifecycleModes":["Persistent"],)"
     R"("storageCapacity":false,"fsGroupPolicy":"ReadWriteOnceWithFSType",)"
     R"("requiresRepublish":false})"},
    {"priority_class", "scheduling.k8s.io", "PriorityClass", R"({"value":7})", "/preemptionPolicy",
     R"("PreemptLowerPriority")"},
};

INSTANTIATE_TEST_SUITE_P(, DefaultsCases, testing::ValuesIn(defaults_cases),
                         [](const auto& c) { return c.param.name; });

std::string qos_of(std::string_view containers) {
  const std::string pod = R"({"spec":{"containers":)" + std::string(containers) + "}}";
  return std::string(qos_class(json::parse(pod).as_object()));
}

TEST(QosClass, FollowsRequestsAndLimits) {
  EXPECT_EQ(qos_of(R"([{"resources":{}}])"), "BestEffort");
  EXPECT_EQ(qos_of(R"([{"resources":{"requests":{"cpu":"1"}}}])"), "Burstable");
  EXPECT_EQ(qos_of(R"([{"resources":{"requests":{"cpu":"1","memory":"1Gi"},)"
                   R"("limits":{"cpu":"1","memory":"1Gi"}}}])"),
            "Guaranteed");
  EXPECT_EQ(qos_of(R"([{"resources":{"requests":{"cpu":"1","memory":"1Gi"},)"
                   R"("limits":{"cpu":"1","memory":"1Gi"}}},{}])"),
            "Burstable");
}

TEST(AdmitPod, AddsOnlyTheTolerationsThatAreMissing) {
  json::object pod = json::parse(R"({"spec":{"tolerations":[{"key":"node.kubernetes.io/not-ready",)"
                                 R"("operator":"Exists"}]}})")
                         .as_object();
  admit_pod(pod, 7, "Never");
  EXPECT_EQ(json::serialize(pod),
            R"({"spec":{"tolerations":[{"key":"node.kubernetes.io/not-ready",)"
            R"("operator":"Exists"},{"key":"node.kubernetes.io/unreachable","operator":"Exists",)"
            R"("effect":"NoExecute","tolerationSeconds":300}],"priority":7,)"
            R"("preemptionPolicy":"Never"}})");
}

}  // namespace
}  // namespace holdfast::agent::lab
