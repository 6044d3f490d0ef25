#include "sync/autonomy/admit.h"

namespace holdfast::sync::autonomy {
namespace {

struct Case {
  std::string_view method;
  std::string_view target;
  Admission admission;
};

void expect(const Case& c) {
  const auto info = objects::parse_request(c.method, c.target, "");
  ASSERT_TRUE(info) << c.target;
  EXPECT_EQ(to_string(admit(*info, "edge-a")), to_string(c.admission))
      << c.method << " " << c.target;
}

TEST(Admit, WhatTheNodeMayDecideAlone) {
  const std::string lease = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
  const std::string mine = lease + "/edge-a";
  const Case cases[] = {
      {"GET", mine, Admission::own_lease},
      {"PUT", mine, Admission::own_lease},
      {"PATCH", mine, Admission::own_lease},
      {"POST", lease, Admission::own_lease},
      {"POST", "/api/v1/nodes", Admission::registration},
      {"PATCH", "/api/v1/nodes/edge-a/status", Admission::node_status},
      {"PUT", "/api/v1/nodes/edge-a/status", Admission::node_status},
      {"PATCH", "/api/v1/namespaces/ns/pods/p/status", Admission::pod_status},
      {"PUT", "/api/v1/namespaces/ns/pods/p/status", Admission::pod_status},
      {"DELETE", "/api/v1/namespaces/ns/pods/p", Admission::final_delete},
      {"POST", "/api/v1/namespaces/ns/pods", Admission::mirror_pod},
      {"PUT", "/apis/storage.k8s.io/v1/csinodes/edge-a", Admission::csi_node},
      {"PATCH", "/apis/storage.k8s.io/v1/csinodes/edge-a", Admission::csi_node},
      {"POST", "/api/v1/namespaces/ns/events", Admission::event},
      {"PATCH", "/api/v1/namespaces/ns/events/e", Admission::event},
      {"PUT", "/api/v1/namespaces/ns/events/e", Admission::event},
      {"POST", "/apis/events.k8s.io/v1/namespaces/ns/events", Admission::event},
      {"PATCH", "/apis/events.k8s.io/v1/namespaces/ns/events/e", Admission::event},
      {"POST", "/api/v1/namespaces/ns/serviceaccounts/s/token", Admission::token},
  };
  for (const Case& c : cases) expect(c);
}

TEST(Admit, WhatOnlyTheCloudDecides) {
  const std::string lease = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
  const std::string other = lease + "/edge-b";
  const std::string elsewhere = "/apis/coordination.k8s.io/v1/namespaces/default/leases/edge-a";
  const std::string mine = lease + "/edge-a";
  const Case cases[] = {
      {"PUT", other, Admission::refuse},
      {"GET", other, Admission::refuse},
      {"DELETE", mine, Admission::refuse},
      {"DELETE", lease, Admission::refuse},
      {"GET", lease, Admission::refuse},
      {"PUT", elsewhere, Admission::refuse},
      {"PATCH", "/api/v1/nodes/edge-b/status", Admission::refuse},
      {"PATCH", "/api/v1/nodes/edge-a", Admission::refuse},
      {"PUT", "/api/v1/nodes/edge-a", Admission::refuse},
      {"DELETE", "/api/v1/nodes/edge-a", Admission::refuse},
      {"PUT", "/api/v1/namespaces/ns/pods/p", Admission::refuse},
      {"PATCH", "/api/v1/namespaces/ns/pods/p", Admission::refuse},
      {"DELETE", "/api/v1/namespaces/ns/pods", Admission::refuse},
      {"POST", "/api/v1/namespaces/ns/pods/p/binding", Admission::refuse},
      {"POST", "/api/v1/namespaces/ns/pods/p/eviction", Admission::refuse},
      {"POST", "/api/v1/namespaces/ns/pods/p/exec", Admission::refuse},
      {"POST", "/apis/storage.k8s.io/v1/csinodes", Admission::refuse},
      {"PUT", "/apis/storage.k8s.io/v1/csinodes/edge-b", Admission::refuse},
      {"DELETE", "/api/v1/namespaces/ns/events/e", Admission::refuse},
      {"POST", "/api/v1/namespaces/ns/serviceaccounts", Admission::refuse},
      {"POST", "/api/v1/namespaces/ns/configmaps", Admission::refuse},
      {"POST", "/apis/apps/v1/namespaces/ns/deployments", Admission::refuse},
      {"PATCH", "/apis/apps/v1/namespaces/ns/pods/p/status", Admission::refuse},
      {"POST", "/version", Admission::refuse},
      {"POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", Admission::refuse},
  };
  for (const Case& c : cases) expect(c);
}

TEST(Admit, OnlyEventsAreNotShownBeforeTheyAreSent) {
  for (const std::string_view resource : {"pods", "nodes", "csinodes"}) {
    EXPECT_TRUE(is_shown_locally(resource)) << resource;
  }
  EXPECT_FALSE(is_shown_locally("events"));
}

}  // namespace
}  // namespace holdfast::sync::autonomy
