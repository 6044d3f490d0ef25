// The requests of node "edge1" that NodeRestriction refuses, with the messages of a
// kube-apiserver 1.36.2.

#include "agent/lab/rules/node_restriction.h"

#include <boost/json.hpp>

namespace holdfast::agent::lab {
namespace {

namespace json = boost::json;

struct RestrictionCase {
  std::string name;
  std::string resource;
  std::string subresource;
  std::string verb;
  std::string object_name;
  std::string now;     // "": none
  std::string before;  // "": none
  std::string pod;     // "": none
  std::string why;     // "": allowed
};

class RestrictionCases : public testing::TestWithParam<RestrictionCase> {};

TEST_P(RestrictionCases, AreJudgedAsByTheRealServer) {
  const RestrictionCase& c = GetParam();
  const auto parsed = [](const std::string& text) {
    return text.empty() ? json::object() : json::parse(text).as_object();
  };
  const json::object now = parsed(c.now);
  const json::object before = parsed(c.before);
  const json::object pod = parsed(c.pod);
  const auto why = restrict_node("edge1", {.resource = c.resource,
                                           .subresource = c.subresource,
                                           .verb = c.verb,
                                           .name_space = "default",
                                           .name = c.object_name,
                                           .now = c.now.empty() ? nullptr : &now,
                                           .before = c.before.empty() ? nullptr : &before,
                                           .pod = c.pod.empty() ? nullptr : &pod});
  EXPECT_EQ(why.value_or(""), c.why);
}

const std::string own_pod = R"({"metadata":{"uid":"u"},"spec":{"nodeName":"edge1"}})";
const std::string other_pod = R"({"metadata":{"uid":"u"},"spec":{"nodeName":"edge2"}})";
const std::string plain_node = R"({"metadata":{"name":"edge1"}})";

std::string mirror_pod(const std::string& owner, const std::string& spec) {
  return R"({"metadata":{"annotations":{"kubernetes.io/config.mirror":"h"},"ownerReferences":[)" +
         owner + R"(]},"spec":{"nodeName":"edge1")" + spec + "}}";
}
const std::string own_owner =
    R"({"apiVersion":"v1","kind":"Node","name":"edge1","controller":true})";

std::string token_for(const std::string& bound) {
  return R"({"spec":{"boundObjectRef":)" + bound + "}}";
}

std::string node_with(const std::string& label) {
  return R"({"metadata":{"name":"edge1","labels":{")" + label + R"(":"x"}}})";
}

const RestrictionCase restriction_cases[] = {
    {"own_node", "nodes", "status", "update", "edge1", plain_node, plain_node, "", ""},
    {"other_node", "nodes", "", "update", "edge2", plain_node, plain_node, "",
     R"(node "edge1" is not allowed to modify node "edge2")"},
    {"taints", "nodes", "", "update", "edge1",
     R"({"metadata":{"name":"edge1"},"spec":{"taints":[{"key":"a"}]}})", plain_node, "",
     R"(node "edge1" is not allowed to modify taints)"},
    {"own_label", "nodes", "", "update", "edge1", node_with("example.com/x"), plain_node, "", ""},
    {"hostname", "nodes", "", "update", "edge1", node_with("kubernetes.io/hostname"), plain_node,
     "", ""},
    {"of_kubelet", "nodes", "", "update", "edge1", node_with("x.node.kubernetes.io/y"), plain_node,
     "", ""},
    {"restricted", "nodes", "", "update", "edge1", node_with("node-restriction.kubernetes.io/x"),
     plain_node, "", "is not allowed to modify labels: node-restriction.kubernetes.io/x"},
    {"role", "nodes", "", "create", "", node_with("node-role.kubernetes.io/master"), "", "",
     R"(node "edge1" is not allowed to set the following labels: node-role.kubernetes.io/master)"},
    {"taken_away", "nodes", "", "update", "edge1", plain_node, node_with("k8s.io/x"), "",
     "is not allowed to modify labels: k8s.io/x"},
    {"own_status", "pods", "status", "update", "p", own_pod, own_pod, "", ""},
    {"other_status", "pods", "status", "update", "p", other_pod, other_pod, "",
     R"(node "edge1" can only update pod status for pods with spec.nodeName set to itself)"},
    {"labels_by_status", "pods", "status", "update", "p",
     R"({"metadata":{"labels":{"a":"b"}},"spec":{"nodeName":"edge1"}})", own_pod, "",
     R"(node "edge1" cannot update labels through pod status)"},
    {"delete_own", "pods", "", "delete", "p", "", own_pod, "", ""},
    {"delete_other", "pods", "", "delete", "p", "", other_pod, "",
     R"(node "edge1" can only delete pods with spec.nodeName set to itself)"},
    {"plain_pod", "pods", "", "create", "", own_pod, "", "",
     R"(pod does not have "kubernetes.io/config.mirror" annotation, node "edge1" can only create )"
     "mirror pods"},
    {"mirror", "pods", "", "create", "", mirror_pod(own_owner, ""), "", "", ""},
    {"mirror_unowned", "pods", "", "create", "", mirror_pod("", ""), "", "",
     R"(node "edge1" can only create pods with an owner reference set to itself)"},
    {"mirror_with_secret", "pods", "", "create", "",
     mirror_pod(own_owner, R"(,"volumes":[{"secret":{}}])"), "", "",
     R"(node "edge1" can not create pods that reference secrets)"},
    {"evict_own", "pods", "eviction", "create", "p", "{}", "", own_pod, ""},
    {"evict_other", "pods", "eviction", "create", "p", "{}", "", other_pod,
     "node edge1 can only evict pods with spec.nodeName set to itself"},
    {"token_unbound", "serviceaccounts", "token", "create", "s", "{}", "", "",
     "node requested token not bound to a pod"},
    {"token", "serviceaccounts", "token", "create", "s",
     token_for(R"({"apiVersion":"v1","kind":"Pod","name":"p","uid":"u"})"), "", own_pod, ""},
    {"token_without_uid", "serviceaccounts", "token", "create", "s",
     token_for(R"({"apiVersion":"v1","kind":"Pod","name":"p"})"), "", own_pod,
     "node requested token with a pod binding without a uid"},
    {"token_elsewhere", "serviceaccounts", "token", "create", "s",
     token_for(R"({"apiVersion":"v1","kind":"Pod","name":"p","uid":"u"})"), "", other_pod,
     "node requested token bound to a pod scheduled on a different node"},
    {"lease", "leases", "", "create", "", plain_node, "", "", ""},
    {"other_lease", "leases", "", "create", "", R"({"metadata":{"name":"edge2"}})", "", "",
     "can only access node lease with the same name as the requesting node"},
    {"other_csi_node", "csinodes", "", "create", "", R"({"metadata":{"name":"edge2"}})", "", "",
     "can only access CSINode with the same name as the requesting node"},
    {"event", "events", "", "create", "", "{}", "", "", ""},
};

INSTANTIATE_TEST_SUITE_P(, RestrictionCases, testing::ValuesIn(restriction_cases),
                         [](const auto& c) { return c.param.name; });

}  // namespace
}  // namespace holdfast::agent::lab
