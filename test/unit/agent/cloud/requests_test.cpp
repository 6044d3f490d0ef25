#include "agent/cloud/requests.h"

#include "agent/cloud/attachments.h"
#include "sync/lifecycle/taints.h"
#include "sync/objects/names.h"

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
  sync::Toleration toleration;
  toleration.key = "k";
  toleration.operator_name = "Exists";
  toleration.effect = "NoExecute";
  toleration.toleration_seconds = 60;
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
      {mark_disrupted({pod, noon, true}),
       "PATCH /api/v1/namespaces/ns/pods/p/status "
       R"({"metadata":{"uid":"uid-p"},"status":{"conditions":[{"type":"DisruptionTarget",)"
       R"("status":"False","reason":"DeletionByTaintManager",)"
       R"("message":"Taint manager: the eviction was withdrawn",)"
       R"("lastTransitionTime":"2015-01-01T12:00:00Z"}]}})" +
           strategic},
      {delete_pod({pod}),
       "DELETE /api/v1/namespaces/ns/pods/p "
       R"({"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"uid-p"}})"},
      {delete_pod({pod, lifecycle::DeadNode{"n", "uid-n"}}),
       "DELETE /api/v1/namespaces/ns/pods/p "
       R"({"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"uid-p"},)"
       R"("gracePeriodSeconds":0})"},
      {evict_pod({pod}),
       "POST /api/v1/namespaces/ns/pods/p/eviction "
       R"({"kind":"Eviction","apiVersion":"policy/v1","metadata":{"name":"p","namespace":"ns"},)"
       R"("deleteOptions":{"preconditions":{"uid":"uid-p"}}})"},
      {fail_pod({pod, {}}),
       "PATCH /api/v1/namespaces/ns/pods/p/status "
       R"({"metadata":{"uid":"uid-p"},"status":{"phase":"Failed"}})" +
           strategic},
      {read_pod(pod), "GET /api/v1/namespaces/ns/pods/p "},
      {write_binding(pod, "7",
                     {true,
                      {toleration},
                      {{"foreign", "x"},
                       {std::string(sync::objects::annotation_original_not_ready), "300"}}}),
       "PATCH /api/v1/namespaces/ns/pods/p "
       R"({"metadata":{"uid":"uid-p","resourceVersion":"7","annotations":{)"
       R"("apps.openyurt.io/original-not-ready-toleration-duration":"300"}},)"
       R"("spec":{"tolerations":[{"key":"k","operator":"Exists","effect":"NoExecute",)"
       R"("tolerationSeconds":60}]}} application/merge-patch+json)"},
      {delete_node({"a", "uid-a"}),
       "DELETE /api/v1/nodes/a "
       R"({"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"uid-a"}})"},
      {list_attachments(), "GET /apis/storage.k8s.io/v1/volumeattachments "},
      {delete_attachment("csi-1", "uid-1"),
       "DELETE /apis/storage.k8s.io/v1/volumeattachments/csi-1 "
       R"({"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"uid-1"}})"},
  };
  for (const auto& row : rows) EXPECT_EQ(shown(row.request), row.expect);
}

TEST(CloudRequests, AttachmentsAreTheNodesThatAreNotGoingYet) {
  const std::string list =
      R"({"items":[{"metadata":{"name":"v1","uid":"u1"},"spec":{"nodeName":"a"}},)"
      R"({"metadata":{"name":"v2","uid":"u2"},"spec":{"nodeName":"b"}},)"
      R"({"metadata":{"name":"v3","uid":"u3","deletionTimestamp":"2015-01-01T12:00:00Z"},)"
      R"("spec":{"nodeName":"a"}},{}]})";
  EXPECT_EQ(attachments_of(list, "a").value(), (std::vector<Attachment>{{"v1", "u1"}}));
  EXPECT_EQ(attachments_of(R"({"items":null})", "a").value(), std::vector<Attachment>{});
  EXPECT_FALSE(attachments_of(R"({"items":7})", "a"));
  EXPECT_FALSE(attachments_of(R"({"items":["nonsense"]})", "a"));
  EXPECT_FALSE(attachments_of("not JSON", "a"));
}

}  // namespace
}  // namespace holdfast::agent
