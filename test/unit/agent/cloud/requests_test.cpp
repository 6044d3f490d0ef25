#include "agent/cloud/requests.h"

#include "sync/lifecycle/taints.h"

namespace holdfast::agent {
namespace {

namespace lifecycle = sync::lifecycle;

const WallTime noon{std::chrono::seconds(1'420'113'600)};  // 2015-01-01T12:00:00Z

std::string shown(const ApiRequest& request) {
  return std::string(to_string(request.method)) + " " + request.target + " " + request.body +
         (request.content_type.empty() ? "" : " " + request.content_type);
}

const std::string strategic = " application/strategic-merge-patch+json";

TEST(CloudRequests, NameWhatTheyWriteAndWhatMustNotHaveChanged) {
  sync::NodeCondition ready;
  ready.type = "Ready";
  ready.status = "Unknown";
  ready.last_heartbeat_time = noon;
  ready.last_transition_time = noon;
  ready.reason = "NodeStatusUnknown";
  ready.message = "Kubelet stopped posting node status.";
  const lifecycle::PodRef pod{"ns", "p", "uid-p"};
  const std::vector<sync::Taint> taints{lifecycle::make_taint("k", "NoExecute", noon)};
  const struct {
    ApiRequest request;
    std::string expect;
  } rows[] = {
      {read_node("a", true), "GET /api/v1/nodes/a "},
      {read_node("a/b", false), "GET /api/v1/nodes/a%2Fb?resourceVersion=0 "},
      {read_lease("a"), "GET /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/a "},
      {write_conditions({"a", "uid-a", "7", {}, {ready}}),
       "PATCH /api/v1/nodes/a/status "
       R"({"metadata":{"uid":"uid-a","resourceVersion":"7"},"status":{"conditions":[)"
       R"({"type":"Ready","status":"Unknown","lastHeartbeatTime":"2015-01-01T12:00:00Z",)"
       R"("lastTransitionTime":"2015-01-01T12:00:00Z","reason":"NodeStatusUnknown",)"
       R"("message":"Kubelet stopped posting node status."}]}})" +
           strategic},
      {write_taints("a", "7", taints),
       "PATCH /api/v1/nodes/a "
       R"({"metadata":{"resourceVersion":"7"},"spec":{"taints":[)"
       R"({"key":"k","effect":"NoExecute","timeAdded":"2015-01-01T12:00:00Z"}]}})" +
           strategic},
      {write_taints("a", "7", {}),
       "PATCH /api/v1/nodes/a "
       R"({"metadata":{"resourceVersion":"7"},"spec":{"taints":null}})" +
           strategic},
      {write_labels({"a", {{"x", "y"}}}),
       "PATCH /api/v1/nodes/a "
       R"({"metadata":{"labels":{"x":"y"}}})" +
           strategic},
      {mark_not_ready({pod, noon}),
       "PATCH /api/v1/namespaces/ns/pods/p/status "
       R"({"metadata":{"uid":"uid-p"},"status":{"conditions":[{"type":"Ready",)"
       R"("status":"False","lastTransitionTime":"2015-01-01T12:00:00Z"}]}})" +
           strategic},
      {mark_lost({pod, "gone"}),
       "PATCH /api/v1/namespaces/ns/pods/p/status "
       R"({"metadata":{"uid":"uid-p"},"status":{"reason":"NodeLost","message":"gone"}})" +
           strategic},
      {mark_disrupted({pod, noon}),
       "PATCH /api/v1/namespaces/ns/pods/p/status "
       R"({"metadata":{"uid":"uid-p"},"status":{"conditions":[{"type":"DisruptionTarget",)"
       R"("status":"True","reason":"DeletionByTaintManager",)"
       R"("message":"Taint manager: deleting due to NoExecute taint",)"
       R"("lastTransitionTime":"2015-01-01T12:00:00Z"}]}})" +
           strategic},
      {delete_pod({pod}),
       "DELETE /api/v1/namespaces/ns/pods/p "
       R"({"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"uid-p"}})"},
  };
  for (const auto& row : rows) EXPECT_EQ(shown(row.request), row.expect);
}

}  // namespace
}  // namespace holdfast::agent
