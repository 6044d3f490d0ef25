// Decoding of protobuf: objects of a real kubelet give the same result through the schema, and all
// known fields are decoded.

#include "sync/wire/protobuf/decode.h"

#include <boost/json.hpp>
#include <fstream>

#include "sync/objects/protobuf.h"
#include "sync/objects/protobuf_write.h"
#include "sync/objects/typed.h"
#include "sync/wire/codec.h"
#include "sync/wire/protobuf/envelope.h"
#include "test/unit/sync/wire/protobuf/session.h"

namespace holdfast::sync::wire {
namespace {

namespace json = boost::json;

constexpr DecodeOptions lean{.keep_untouched = false, .keep_managed_fields = false};

// The other way to decode a struct: protobuf to JSON by the schema, then JSON to the struct.
template <class T>
T by_schema(const Envelope& envelope) {
  const StructType& type = known_type(T::kind);
  const auto object = objects::read_protobuf(type, envelope.raw);
  const auto shaped = objects::shape(type, object.value(), T::kind, T::api_version);
  return decode<T>(shaped.value().object, lean).value();
}

template <class T>
bool both_agree(const test::Recorded& recorded) {
  const Envelope envelope = open_envelope(recorded.bytes).value();
  if (envelope.kind != T::kind) return false;
  const auto decoded = decode_protobuf<T>(recorded.bytes);
  EXPECT_TRUE(decoded.has_value()) << recorded.where << ": " << decoded.error().what;
  if (!decoded) return true;
  const T expected = by_schema<T>(envelope);
  EXPECT_EQ(encode(*decoded), encode(expected)) << recorded.where;
  EXPECT_EQ(*decoded, expected) << recorded.where;
  EXPECT_EQ(*decode_protobuf<T>(envelope.raw), expected) << "without envelope";
  return true;
}

TEST(DecodeProtobuf, WhatAKubeletSawIsWhatTheSchemaReads) {
  int nodes = 0;
  int pods = 0;
  int leases = 0;
  for (const test::Recorded& recorded : test::recorded_objects()) {
    nodes += both_agree<Node>(recorded) ? 1 : 0;
    pods += both_agree<Pod>(recorded) ? 1 : 0;
    leases += both_agree<Lease>(recorded) ? 1 : 0;
  }
  EXPECT_GT(nodes, 40);
  EXPECT_GT(pods, 20);
  EXPECT_GT(leases, 60);
}

// JSON that the schema converts to protobuf decodes to the same struct as the JSON itself.
template <class T>
void goes_both_ways(std::string_view text) {
  const T expected = decode_bytes<T>(text, lean).value();
  const auto written = objects::to_protobuf(text);
  ASSERT_TRUE(written.has_value()) << written.error().what;
  const auto decoded = decode_protobuf<T>(*written);
  ASSERT_TRUE(decoded.has_value()) << decoded.error().what;
  EXPECT_EQ(encode(*decoded), encode(expected));
  EXPECT_EQ(*decoded, expected);
  EXPECT_NE(expected, T{});
}

constexpr std::string_view metadata_text = R"("metadata": {
  "name": "n", "generateName": "n-", "namespace": "ns", "uid": "u", "resourceVersion": "7",
  "generation": 3, "creationTimestamp": "2024-02-29T01:02:03Z",
  "deletionTimestamp": "1969-12-31T23:59:59Z", "deletionGracePeriodSeconds": 0,
  "labels": {"b": "2", "a": "", "\u00e9": "\ud83d\ude00"}, "annotations": {"x/y": "long text"},
  "ownerReferences": [{"apiVersion": "v1", "kind": "K", "name": "o", "uid": "ou",
                       "controller": true, "blockOwnerDeletion": false}, {"kind": "L"}],
  "finalizers": ["f1", "f2"], "selfLink": "/x", "managedFields": [{"manager": "m"}]})";

std::string object_text(std::string_view kind, std::string_view version, std::string_view rest) {
  return R"({"kind":")" + std::string(kind) + R"(","apiVersion":")" + std::string(version) + "\"," +
         std::string(metadata_text) + std::string(rest) + "}";
}

TEST(DecodeProtobuf, EveryFieldOfANodeArrives) {
  goes_both_ways<Node>(object_text("Node", "v1", R"(, "spec": {
    "podCIDR": "10.0.0.0/24", "podCIDRs": ["10.0.0.0/24"], "providerID": "p",
    "unschedulable": true, "taints": [
      {"key": "k", "value": "v", "effect": "NoExecute", "timeAdded": "2024-01-01T00:00:00Z"},
      {"key": "l", "effect": "NoSchedule"}]},
    "status": {"capacity": {"cpu": "4", "memory": "1Ki"}, "allocatable": {"cpu": "3500m"},
      "phase": "Running", "conditions": [{"type": "Ready", "status": "Unknown",
        "lastHeartbeatTime": null, "lastTransitionTime": "2024-01-01T00:00:00Z",
        "reason": "r", "message": "m"}],
      "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}],
      "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
      "nodeInfo": {"machineID": "1", "systemUUID": "2", "bootID": "3", "kernelVersion": "4",
        "osImage": "5", "containerRuntimeVersion": "6", "kubeletVersion": "7",
        "kubeProxyVersion": "8", "operatingSystem": "9", "architecture": "10"},
      "images": [{"names": ["i"], "sizeBytes": 5}], "volumesInUse": ["a", "b"],
      "volumesAttached": [{"name": "a", "devicePath": "/dev/a"}]})"));
}

TEST(DecodeProtobuf, WhereAPodMayRunArrives) {
  goes_both_ways<Pod>(object_text("Pod", "v1", R"(, "spec": {
    "containers": [{"name": "c"}], "affinity": {
      "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
          {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b", "c"]}],
           "matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["n"]}]}]},
        "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 7, "preference": {
          "matchExpressions": [{"key": "a", "operator": "Exists"}]}}]},
      "podAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "zone",
          "labelSelector": {"matchLabels": {"app": "a"},
            "matchExpressions": [{"key": "k", "operator": "DoesNotExist"}]},
          "namespaces": ["x", "y"], "namespaceSelector": {"matchLabels": {"team": "t"}},
          "matchLabelKeys": ["m"], "mismatchLabelKeys": ["n"]}]},
      "podAntiAffinity": {
        "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100,
          "podAffinityTerm": {"topologyKey": "host", "namespaceSelector": {}}}]}},
    "topologySpreadConstraints": [{"maxSkew": 2, "topologyKey": "zone",
      "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"app": "a"}},
      "minDomains": 3, "nodeAffinityPolicy": "Ignore", "nodeTaintsPolicy": "Honor",
      "matchLabelKeys": ["pod-template-hash"]}],
    "schedulingGates": [{"name": "example.com/a"}, {"name": "example.com/b"}]})"));
}

TEST(DecodeProtobuf, EveryFieldOfALeaseArrives) {
  goes_both_ways<Lease>(object_text("Lease", "coordination.k8s.io/v1", R"(, "spec": {
    "holderIdentity": "h", "leaseDurationSeconds": 40, "leaseTransitions": -1,
    "acquireTime": "2024-01-01T00:00:00.000001Z", "renewTime": "1969-12-31T23:59:59.999999Z"})"));
  goes_both_ways<Lease>(R"({"kind": "Lease", "spec": {"leaseDurationSeconds": 0}})");
}

constexpr std::string_view pod_spec_text = R"("spec": {
  "volumes": [{"name": "v", "emptyDir": {}}, {"name": "e", "ephemeral": {}},
    {"name": "c", "persistentVolumeClaim": {"claimName": "c", "readOnly": true}},
    {"name": "g", "gcePersistentDisk": {"pdName": "d", "readOnly": true, "partition": 1}},
    {"name": "a", "awsElasticBlockStore": {"volumeID": "d", "readOnly": false}},
    {"name": "i", "iscsi": {"targetPortal": "p", "iqn": "q", "lun": 1, "readOnly": true}},
    {"name": "r", "rbd": {"monitors": ["m", "n"], "image": "i", "pool": "p"}}],
  "resourceClaims": [{"name": "gpu", "resourceClaimName": "g"}, {"name": "nic"}],
  "resources": {"requests": {"cpu": "2"}, "limits": {"memory": "1Gi"}},
  "schedulingGroup": {"podGroupName": "g"},
  "initContainers": [{"name": "i", "restartPolicy": "Always"}],
  "containers": [{"name": "c", "image": "i", "command": ["a", ""], "args": ["b"],
    "workingDir": "/", "imagePullPolicy": "Never", "tty": true,
    "ports": [{"name": "p", "hostPort": 1, "containerPort": 65535, "protocol": "TCP",
               "hostIP": "::1"}],
    "envFrom": [{"prefix": "P", "configMapRef": {"name": "cm", "optional": true}},
                {"secretRef": {"name": "s"}}],
    "env": [{"name": "A", "value": "1"},
      {"name": "B", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "f"}}},
      {"name": "C", "valueFrom": {"configMapKeyRef": {"name": "cm", "key": "k",
                                                      "optional": false}}},
      {"name": "D", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}},
      {"name": "E", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}}],
    "resources": {"limits": {"cpu": "1"}, "requests": {"memory": "1Mi"}}}],
  "restartPolicy": "Always", "terminationGracePeriodSeconds": 0, "activeDeadlineSeconds": 9,
  "dnsPolicy": "None", "nodeSelector": {"a": "b"}, "serviceAccountName": "sa",
  "nodeName": "node", "hostNetwork": true, "schedulerName": "s",
  "tolerations": [{"key": "k", "operator": "Exists", "value": "v", "effect": "NoExecute",
                   "tolerationSeconds": -9223372036854775808}, {}],
  "priorityClassName": "pc", "priority": -2147483648, "preemptionPolicy": "Never",
  "overhead": {"cpu": "10m"}})";

TEST(DecodeProtobuf, EveryFieldOfAPodArrives) {
  goes_both_ways<Pod>(object_text("Pod", "v1", "," + std::string(pod_spec_text) + R"(, "status": {
    "phase": "Running", "message": "m", "reason": "r", "nominatedNodeName": "n",
    "hostIP": "1.1.1.1", "podIP": "2.2.2.2", "podIPs": [{"ip": "2.2.2.2"}, {"ip": "::2"}],
    "startTime": "2024-01-01T00:00:00Z", "qosClass": "Burstable",
    "allocatedResources": {"cpu": "2"}, "resources": {"requests": {"cpu": "3"}},
    "conditions": [{"type": "Ready", "status": "True", "lastProbeTime": null,
      "lastTransitionTime": "2024-01-01T00:00:00Z", "reason": "r", "message": "m"}],
    "initContainerStatuses": [{"name": "i", "ready": true, "restartCount": 0, "image": "",
      "imageID": "", "state": {"waiting": {"reason": "w", "message": "m"}}, "lastState": {}}],
    "containerStatuses": [{"name": "c", "ready": false, "restartCount": 2, "image": "i",
      "imageID": "id", "containerID": "cid", "started": false,
      "allocatedResources": {"cpu": "1"}, "resources": {"requests": {"cpu": "1500m"}},
      "state": {"running": {"startedAt": "2024-01-01T00:00:00Z"}},
      "lastState": {"terminated": {"exitCode": 137, "signal": 9, "reason": "r", "message": "m",
        "startedAt": "2024-01-01T00:00:00Z", "finishedAt": null, "containerID": "old"}}}]})"));
}

TEST(DecodeProtobuf, EveryFieldOfADaemonSetArrives) {
  goes_both_ways<DaemonSet>(object_text("DaemonSet", "apps/v1",
                                        R"(, "spec": {
    "selector": {"matchLabels": {"a": "b"}, "matchExpressions": [
      {"key": "k", "operator": "In", "values": ["x", "y"]}, {"key": "l", "operator": "Exists"}]},
    "template": {"metadata": {"labels": {"a": "b"}}, )" +
                                            std::string(pod_spec_text) + R"(},
    "updateStrategy": {"type": "RollingUpdate",
                       "rollingUpdate": {"maxUnavailable": "10%", "maxSurge": 0}},
    "minReadySeconds": 1, "revisionHistoryLimit": 0},
    "status": {"currentNumberScheduled": 1, "numberMisscheduled": 2, "desiredNumberScheduled": 3,
      "numberReady": 4, "observedGeneration": 5, "updatedNumberScheduled": 6,
      "numberAvailable": 7, "numberUnavailable": 8, "collisionCount": 9})"));
}

// Converts the JSON answers of a real API server to protobuf.
TEST(DecodeProtobuf, RecordedJsonAndItsProtobufAreTheSame) {
  int checked = 0;
  std::ifstream in(HOLDFAST_SOURCE_ROOT "/test/data/apiserver/exchanges.jsonl");
  for (std::string line; std::getline(in, line);) {
    const json::object exchange = json::parse(line).as_object();
    const json::object* answer = exchange.at("response").if_object();
    const json::value* kind = answer != nullptr ? answer->if_contains("kind") : nullptr;
    if (kind == nullptr) continue;
    ++checked;
    if (*kind == "Node") {
      goes_both_ways<Node>(json::serialize(*answer));
    } else if (*kind == "Pod") {
      goes_both_ways<Pod>(json::serialize(*answer));
    } else if (*kind == "Lease") {
      goes_both_ways<Lease>(json::serialize(*answer));
    } else if (*kind == "DaemonSet") {
      goes_both_ways<DaemonSet>(json::serialize(*answer));
    } else {
      --checked;
    }
  }
  EXPECT_GT(checked, 5);
}

TEST(DecodeProtobuf, TheEnvelopeMustNameTheKind) {
  EXPECT_EQ(decode_protobuf<Node>(enveloped("v1", "Pod", "")).error(),
            (Error{Errc::invalid, "Node: kind: expected Node, found Pod"}));
  EXPECT_TRUE(decode_protobuf<Pod>(enveloped("v1", "Pod", "")).has_value());
  EXPECT_EQ(*decode_protobuf<Pod>(""), Pod{});
}

}  // namespace
}  // namespace holdfast::sync::wire
