// The registration of a node that the cloud has deleted.

#include "sync/autonomy/registration.h"

#include <gtest/gtest.h>

namespace holdfast::sync::autonomy {
namespace {

json::object parse(std::string_view text) { return wire::parse_json(text).value().as_object(); }

TEST(RegistrationAgain, OnlyLabelsThatAKubeletMaySetAreSet) {
  const std::pair<const char*, bool> cases[] = {{"site", true},
                                                {"example.com/site", true},
                                                {"kubernetes.io/hostname", true},
                                                {"kubernetes.io/role", false},
                                                {"node-role.kubernetes.io/edge", false},
                                                {"kubelet.kubernetes.io/x", true},
                                                {"sub.kubelet.kubernetes.io/x", true},
                                                {"node.kubernetes.io/x", true},
                                                {"node.kubernetes.io/instance-type", true},
                                                {"topology.kubernetes.io/zone", true},
                                                {"topology.kubernetes.io/other", false},
                                                {"beta.kubernetes.io/os", true},
                                                {"failure-domain.beta.kubernetes.io/zone", true},
                                                {"node-restriction.kubernetes.io/x", false},
                                                {"x.node-restriction.kubernetes.io/y", false},
                                                {"k8s.io/x", false},
                                                {"x.k8s.io/y", false},
                                                {"notkubernetes.io/x", true},
                                                {"", true}};
  for (const auto& [label, may] : cases) EXPECT_EQ(may_label_own_node(label), may) << label;
}

TEST(RegistrationAgain, HasWhatIsTrueOfTheMachine) {
  const json::object node = parse(R"({
    "metadata":{"name":"n","uid":"u","resourceVersion":"7",
      "creationTimestamp":"2026-01-01T00:00:00Z",
      "labels":{"site":"a","node-role.kubernetes.io/edge":""},
      "annotations":{"volumes.kubernetes.io/controller-managed-attach-detach":"true"},
      "ownerReferences":[{"kind":"Machine"}],"finalizers":["x"]},
    "spec":{"podCIDR":"10.0.0.0/24","providerID":"p://1","unschedulable":true,
      "taints":[{"key":"node.kubernetes.io/unreachable","effect":"NoExecute"}]},
    "status":{"capacity":{"cpu":"4"},"volumesAttached":[{"name":"v"}],"volumesInUse":["v"]}})");
  EXPECT_EQ(registration_of(node), parse(R"({
    "kind":"Node","apiVersion":"v1",
    "metadata":{"name":"n","labels":{"site":"a"},
      "annotations":{"volumes.kubernetes.io/controller-managed-attach-detach":"true"}},
    "spec":{"providerID":"p://1"},
    "status":{"capacity":{"cpu":"4"}}})"));
  EXPECT_EQ(registration_of({}), parse(R"({"kind":"Node","apiVersion":"v1",
    "metadata":{"name":"","labels":{}},"spec":{},"status":{}})"));
}

}  // namespace
}  // namespace holdfast::sync::autonomy
