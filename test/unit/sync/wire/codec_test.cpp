// The codec: a round trip loses nothing, and errors name the path of the wrong value.

#include "sync/wire/codec.h"

#include <boost/json/object.hpp>

namespace holdfast::sync::wire {
namespace {

// Decodes and encodes again; returns the error's text if that fails.
template <class T>
std::string through(std::string_view bytes, const DecodeOptions& options = {}) {
  const auto object = decode_bytes<T>(bytes, options);
  return object ? encode_bytes(*object) : object.error().what;
}

WallTime moment(std::string_view text) { return *parse_rfc3339(text); }

TEST(Codec, NodeHasEveryMember) {
  Node want;
  want.metadata.name = "n1";
  want.metadata.uid = "u";
  want.metadata.resource_version = "7";
  want.metadata.generation = 2;
  want.metadata.creation_timestamp = moment("2026-01-01T00:00:00Z");
  want.metadata.labels = {{"b", "2"}, {"a", "1"}};
  want.metadata.owner_references = {{.api_version = "v1",
                                     .kind = "Pod",
                                     .name = "p",
                                     .uid = "pu",
                                     .controller = true,
                                     .block_owner_deletion = {},
                                     .unknown_fields = {}}};
  want.metadata.finalizers = {"f"};
  want.spec.pod_cidr = "10.0.0.0/24";
  want.spec.unschedulable = true;
  want.spec.taints = {{.key = "k",
                       .value = "",
                       .effect = "NoSchedule",
                       .time_added = moment("2026-01-01T00:00:01Z"),
                       .unknown_fields = {}}};
  want.status.capacity = {{"cpu", "4"}, {"pods", "110"}};
  want.status.conditions = {{.type = "Ready",
                             .status = "True",
                             .last_heartbeat_time = moment("2026-01-01T00:00:02Z"),
                             .last_transition_time = {},
                             .reason = "KubeletReady",
                             .message = "ok",
                             .unknown_fields = {}}};
  want.status.addresses = {{.type = "Hostname", .address = "n1", .unknown_fields = {}}};
  want.status.node_info.kubelet_version = "v1.32.0";
  want.status.volumes_attached = {{.name = "v", .device_path = "d", .unknown_fields = {}}};

  const auto got = decode_bytes<Node>(R"({
      "kind": "Node", "apiVersion": "v1",
      "metadata": {"name": "n1", "uid": "u", "resourceVersion": "7", "generation": 2,
        "creationTimestamp": "2026-01-01T00:00:00Z", "labels": {"b": "2", "a": "1"},
        "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "pu",
          "controller": true}], "finalizers": ["f"]},
      "spec": {"podCIDR": "10.0.0.0/24", "unschedulable": true, "taints": [
        {"key": "k", "effect": "NoSchedule", "timeAdded": "2026-01-01T00:00:01Z"}]},
      "status": {"capacity": {"cpu": 4, "pods": "110"}, "conditions": [{"type": "Ready",
          "status": "True", "lastHeartbeatTime": "2026-01-01T00:00:02Z",
          "lastTransitionTime": null, "reason": "KubeletReady", "message": "ok"}],
        "addresses": [{"type": "Hostname", "address": "n1"}],
        "nodeInfo": {"kubeletVersion": "v1.32.0"},
        "volumesAttached": [{"name": "v", "devicePath": "d"}]}})");
  ASSERT_TRUE(got.has_value()) << got.error().what;
  EXPECT_EQ(*got, want);
}

// Objects from a kube-apiserver. Encoding them again must give the same bytes.
const std::string_view same_pods[] = {
    R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p1","namespace":"t","uid":"91e9",)"
    R"("resourceVersion":"213","creationTimestamp":"2026-11-21T01:23:14Z",)"
    R"("deletionTimestamp":"2026-11-21T01:23:54Z","deletionGracePeriodSeconds":30,)"
    R"("labels":{"app":"web"},"managedFields":[{"manager":"x"}]},)"
    R"("spec":{"containers":[{"name":"c",)"
    R"("image":"x","command":["sh"],"args":["-c"],"workingDir":"/w",)"
    R"("ports":[{"containerPort":80}],)"
    R"("envFrom":[{"configMapRef":{"name":"cm"}}],"env":[{"name":"A","value":"1"},{"name":"B",)"
    R"("valueFrom":{"secretKeyRef":{"name":"s","key":"k","optional":false}}},{"name":"C",)"
    R"("valueFrom":{"fieldRef":{"apiVersion":"v1","fieldPath":"metadata.name"}}},{"name":"D",)"
    R"("valueFrom":{"resourceFieldRef":{"resource":"limits.cpu","divisor":"0"}}}],)"
    R"("resources":{"limits":{"cpu":"1"},"claims":[]},"imagePullPolicy":"Always",)"
    R"("terminationMessagePath":"/dev/termination-log"}],"restartPolicy":"Always",)"
    R"("terminationGracePeriodSeconds":0,"nodeName":"n1","schedulerName":"default-scheduler",)"
    R"("tolerations":[{"key":"z","operator":"Exists","effect":"NoExecute",)"
    R"("tolerationSeconds":300}],"priority":0,"dnsPolicy":"ClusterFirst","securityContext":{}},)"
    R"("status":{"phase":"Running","conditions":[{"type":"Ready","status":"True",)"
    R"("lastProbeTime":null,"lastTransitionTime":null,"observedGeneration":1}],)"
    R"("podIP":"10.1.0.5","podIPs":[{"ip":"10.1.0.5"}],"startTime":"2026-01-01T00:00:00Z",)"
    R"("containerStatuses":[{"name":"c","state":{"running":{"startedAt":"2026-01-01T00:00:00Z"}},)"
    R"("lastState":{"terminated":{"exitCode":1,"reason":"Error","startedAt":null,)"
    R"("finishedAt":null}},"ready":true,"restartCount":2,"image":"x","imageID":"i",)"
    R"("started":true}],)"
    R"("qosClass":"BestEffort"},"x-new":{"deep":[1.5,{"a":null}]}})",
    R"({"kind":"Pod","apiVersion":"v1","metadata":{"creationTimestamp":null},)"
    R"("spec":{"containers":[]},"status":{}})",
};

TEST(Codec, PodsComeBackByteForByte) {
  for (const std::string_view pod : same_pods) EXPECT_EQ(through<Pod>(pod), pod);
}

TEST(Codec, UntouchedCanBeDropped) {
  const std::string_view pod =
      R"({"metadata":{"name":"p","managedFields":[1],"other":2},"spec":{"hostAliases":[]}})";
  EXPECT_EQ(through<Pod>(pod, {.keep_managed_fields = false}),
            R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","creationTimestamp":null,)"
            R"("other":2},"spec":{"containers":[],"hostAliases":[]},"status":{}})");
  EXPECT_EQ(through<Pod>(pod, {.keep_untouched = false}),
            R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","creationTimestamp":null},)"
            R"("spec":{"containers":[]},"status":{}})");
}

TEST(Codec, UntouchedComparesByValue) {
  const auto one = decode_bytes<Lease>(R"({"spec":{"strategy":"x"}})");
  const auto same = decode_bytes<Lease>(R"({"spec":{"strategy":"x"}})");
  const auto other = decode_bytes<Lease>(R"({"spec":{"strategy":"y"}})");
  const auto none = decode_bytes<Lease>(R"({"spec":{}})");
  ASSERT_TRUE(one && same && other && none);
  EXPECT_EQ(*one, *same);
  EXPECT_NE(*one, *other);
  EXPECT_NE(*one, *none);
  EXPECT_EQ(Lease(*one), *one);
}

TEST(Codec, OtherKindsComeBackByteForByte) {
  const std::string meta = R"("metadata":{"name":"x","creationTimestamp":null})";
  const std::string lease = R"({"kind":"Lease","apiVersion":"coordination.k8s.io/v1",)" + meta +
                            R"(,"spec":{"holderIdentity":"n1","leaseDurationSeconds":40,)"
                            R"("renewTime":"2026-01-01T00:00:10.000001Z","leaseTransitions":0}})";
  EXPECT_EQ(through<Lease>(lease), lease);
  const std::string event = R"({"kind":"Event","apiVersion":"v1",)" + meta +
                            R"(,"involvedObject":{"kind":"Pod","namespace":"t","name":"p1"},)"
                            R"("reason":"R","message":"m","source":{"component":"c"},)"
                            R"("firstTimestamp":null,"lastTimestamp":null,"count":1,)"
                            R"("type":"Normal","eventTime":null,"reportingComponent":"",)"
                            R"("reportingInstance":""})";
  EXPECT_EQ(through<Event>(event), event);
  const std::string secret =
      R"({"kind":"Secret","apiVersion":"v1",)" + meta + R"(,"data":{"k":"dg=="},"type":"Opaque"})";
  EXPECT_EQ(through<Secret>(secret), secret);
  EXPECT_EQ(decode_bytes<Secret>(secret)->data, (StringMap{{"k", "v"}}));
  const std::string map = R"({"kind":"ConfigMap","apiVersion":"v1",)" + meta +
                          R"(,"immutable":false,"data":{"k":"v"},"binaryData":{"b":"AAE="}})";
  EXPECT_EQ(through<ConfigMap>(map), map);
  const std::string deployment =
      R"({"kind":"Deployment","apiVersion":"apps/v1",)" + meta +
      R"(,"spec":{"replicas":0,"selector":{"matchLabels":{"app":"d"}},"template":{)" + meta +
      R"(,"spec":{"containers":[]}},"strategy":{"type":"RollingUpdate","rollingUpdate":)"
      R"({"maxUnavailable":"25%","maxSurge":1}}},"status":{}})";
  EXPECT_EQ(through<Deployment>(deployment), deployment);
  const std::string budget = R"({"kind":"PodDisruptionBudget","apiVersion":"policy/v1",)" + meta +
                             R"(,"spec":{"minAvailable":1,"selector":{"matchExpressions":)"
                             R"([{"key":"a","operator":"In","values":["b"]}]}},"status":)"
                             R"({"disruptionsAllowed":0,"currentHealthy":0,"desiredHealthy":0,)"
                             R"("expectedPods":0}})";
  EXPECT_EQ(through<PodDisruptionBudget>(budget), budget);
}

struct Wrong {
  std::string_view bytes;
  std::string_view error;
};

TEST(Codec, WrongTypesAreNamedByTheirPath) {
  const Wrong nodes[] = {
      {"[]", "Node: expected an object"},
      {"{", "JSON at byte 1: incomplete JSON"},
      {R"({"kind":"Pod"})", "Node: kind: expected Node, found Pod"},
      {R"({"kind":1})", "Node: kind: expected a string"},
      {R"({"spec":[]})", "Node: spec: expected an object"},
      {R"({"spec":{"taints":{}}})", "Node: spec.taints: expected an array"},
      {R"({"spec":{"taints":[{},{},{"effect":1}]}})",
       "Node: spec.taints[2].effect: expected a string"},
      {R"({"spec":{"taints":[{"timeAdded":"x"}]}})",
       "Node: spec.taints[0].timeAdded: expected a time (RFC 3339)"},
      {R"({"spec":{"unschedulable":"yes"}})", "Node: spec.unschedulable: expected a boolean"},
      {R"({"metadata":{"labels":{"a/b":1}}})", "Node: metadata.labels[a/b]: expected a string"},
      {R"({"metadata":{"generation":1.5}})", "Node: metadata.generation: expected an integer"},
      {R"({"metadata":{"finalizers":[1]}})", "Node: metadata.finalizers[0]: expected a string"},
      {R"({"status":{"capacity":{"cpu":true}}})", "Node: status.capacity[cpu]: expected a string"},
  };
  for (const Wrong& wrong : nodes) EXPECT_EQ(through<Node>(wrong.bytes), wrong.error);
  const Wrong pods[] = {
      {R"({"spec":{"priority":3000000000}})", "Pod: spec.priority: expected an integer of 32 bits"},
      {R"({"spec":{"containers":[{"env":[{"valueFrom":{"secretKeyRef":[]}}]}]}})",
       "Pod: spec.containers[0].env[0].valueFrom.secretKeyRef: expected an object"},
      {R"({"spec":{"containers":[{"env":[{"name":{}}]}, {"name":3}]}})",
       "Pod: spec.containers[0].env[0].name: expected a string"},
  };
  for (const Wrong& wrong : pods) EXPECT_EQ(through<Pod>(wrong.bytes), wrong.error);
  EXPECT_EQ(through<Secret>(R"({"data":{"k":"*"}})"), "Secret: data[k]: expected base64");
  EXPECT_EQ(through<Deployment>(R"({"spec":{"strategy":{"rollingUpdate":{"maxSurge":[]}}}})"),
            "Deployment: spec.strategy.rollingUpdate.maxSurge: expected an integer or a string");
}

TEST(Codec, PartsAndSelectors) {
  const Taint taint{
      .key = "k", .value = "v", .effect = "NoExecute", .time_added = {}, .unknown_fields = {}};
  EXPECT_EQ(serialize(encode_taints({taint})), R"([{"key":"k","value":"v","effect":"NoExecute"}])");
  const auto selector = decode_label_selector(*parse_json(R"({"matchLabels":{"a":"b"}})"));
  ASSERT_TRUE(selector.has_value());
  EXPECT_EQ(selector->match_labels, (StringMap{{"a", "b"}}));
  EXPECT_EQ(decode_label_selector(*parse_json(R"({"matchLabels":[]})")).error().what,
            "selector: matchLabels: expected an object");
}

TEST(Codec, ManyFitInMemory) {
  EXPECT_LE(sizeof(Toleration), 160u);
  EXPECT_LE(sizeof(Taint), 128u);
  EXPECT_LE(sizeof(ObjectMeta), 352u);
  EXPECT_LE(sizeof(Node), 1200u);
  EXPECT_LE(sizeof(Pod), 1224u);
}

// A decoded item needs hundreds of bytes, so their number is limited.
TEST(Codec, TooManyItemsAreRefused) {
  const auto pod_with = [](std::size_t containers) {
    std::string items = "{}";
    for (std::size_t i = 1; i < containers; ++i) items += ",{}";
    return through<Pod>(R"({"spec":{"containers":[)" + items + "]}}");
  };
  EXPECT_EQ(pod_with(30'000), "Pod: spec.containers: expected fewer items");
  EXPECT_TRUE(pod_with(10'000).starts_with("{")) << pod_with(10'000).substr(0, 100);
}

}  // namespace
}  // namespace holdfast::sync::wire
