// Kubernetes manifests as workloads.

#include <gtest/gtest.h>

#include "test/unit/agent/lab/scenario/scenario_text.h"

namespace holdfast::agent::lab {
namespace {

using namespace std::chrono_literals;

constexpr const char* manifest_base =
    "name: x\nduration: 1h\n"
    "fleet: {sites: [{name: a, labels: {role: cell}}, {name: b, zone: west}, {name: c}]}\n"
    "workloads: [{deployment: own}]\n"
    "manifests: [app.yaml]\n";

constexpr const char* app_text = R"(# Comments and several documents.
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {a: b}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 5
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web, tier: front}}
    spec:
      priorityClassName: high
      terminationGracePeriodSeconds: 5
      nodeSelector: {role: cell, kubernetes.io/os: linux}
      tolerations:
      - key: node.kubernetes.io/unreachable
        operator: Exists
        effect: NoExecute
        tolerationSeconds: 60
      - {key: dedicated, value: web}
      affinity: {}
      containers:
      - {name: main, image: nginx, resources: {requests: {cpu: 250m, memory: 64Mi}}}
      - {name: side, image: proxy, resources: {requests: {cpu: "0.5"}}}
---
apiVersion: v1
kind: List
items:
- apiVersion: apps/v1
  kind: StatefulSet
  metadata: {name: db}
  spec:
    replicas: 3
    template:
      metadata: {labels: {app: db}}
      spec: {nodeSelector: {topology.kubernetes.io/zone: west}, containers: [{name: db}]}
    volumeClaimTemplates: []
- apiVersion: batch/v1
  kind: Job
  metadata: {name: once}
  spec: {completions: 4, template: {spec: {containers: []}}}
- {apiVersion: apps/v1, kind: DaemonSet, metadata: {name: logs}}
- {apiVersion: v1, kind: Pod, metadata: {name: bare}}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec: {maxUnavailable: 30%, selector: {matchLabels: {app: web}}}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 1000
---
)";

TEST(ScenarioManifests, BecomeWorkloads) {
  const auto scenario = parse_text(manifest_base, {}, {{"app.yaml", app_text}});
  ASSERT_TRUE(scenario) << scenario.error().what;
  Workload web{.name = "web", .namespace_name = "shop", .replicas = 5, .on = "a"};
  web.cpu = "750m";
  web.memory = "64Mi";
  web.priority = 1000;
  web.grace = 5s;
  web.tolerations = {{"node.kubernetes.io/unreachable", "Exists", "", "NoExecute", 60},
                     {"dedicated", "Equal", "web", "", std::nullopt}};
  web.min_available = 3;  // 30% of 5 are 2, rounded up
  Workload db{.kind = WorkloadKind::stateful_set, .name = "db", .replicas = 3, .on = "b"};
  Workload once{.kind = WorkloadKind::job, .name = "once", .replicas = 4};
  once.run_time = 1min;
  Workload logs{.kind = WorkloadKind::daemon_set, .name = "logs"};
  for (Workload* each : {&web, &db, &once, &logs}) each->is_from_manifest = true;
  const Workload own{.name = "own"};
  EXPECT_EQ(scenario->workloads, (std::vector<Workload>{own, web, db, once, logs}));
  EXPECT_EQ(scenario->manifests, std::vector<std::string>{"/beside/app.yaml"});
  const std::vector<std::string> notes = {"app.yaml:25: affinity is not simulated",
                                          "app.yaml:41: volumeClaimTemplates are not simulated",
                                          "app.yaml:42: job once is assumed to run for 1m",
                                          "app.yaml:47: Pod is not simulated"};
  EXPECT_EQ(scenario->notes, notes);
}

TEST(ScenarioManifests, WhatIsNotSimulatedIsNoted) {
  const std::string text = R"(kind: Deployment
metadata: {name: web}
spec:
  template:
    spec:
      nodeName: a-1
      affinity: {}
      topologySpreadConstraints: []
      initContainers: [{name: first}]
      volumes:
      - {name: scratch, emptyDir: {}}
      - {name: files, persistentVolumeClaim: {claimName: files}}
---
{kind: StatefulSet, metadata: {name: db}, spec: {volumeClaimTemplates: []}}
---
{kind: Pod, metadata: {name: p}}
---
{kind: ReplicaSet, metadata: {name: r}}
---
{kind: CronJob, metadata: {name: c}}
---
{kind: ReplicationController, metadata: {name: o}}
)";
  const auto scenario = parse_text(manifest_base, {}, {{"app.yaml", text}});
  ASSERT_TRUE(scenario) << scenario.error().what;
  const std::vector<std::string> notes = {"app.yaml:7: affinity is not simulated",
                                          "app.yaml:8: topologySpreadConstraints is not simulated",
                                          "app.yaml:9: initContainers is not simulated",
                                          "app.yaml:6: nodeName is not simulated",
                                          "app.yaml:12: persistentVolumeClaim is not simulated",
                                          "app.yaml:14: volumeClaimTemplates are not simulated",
                                          "app.yaml:16: Pod is not simulated",
                                          "app.yaml:18: ReplicaSet is not simulated",
                                          "app.yaml:20: CronJob is not simulated",
                                          "app.yaml:22: ReplicationController is not simulated"};
  EXPECT_EQ(scenario->notes, notes);
}

TEST(ScenarioManifests, CanBeReferredTo) {
  const auto scenario = parse_text(std::string(manifest_base) +
                                       "events: [{at: 1m, rollout: web}]\n"
                                       "expect: [{duplicates: 0, of: db}]\n",
                                   {}, {{"app.yaml", app_text}});
  ASSERT_TRUE(scenario) << scenario.error().what;
  EXPECT_EQ(scenario->expectations.front().of, "db");
}

struct BadManifest {
  std::string text;
  std::string error;
};

TEST(ScenarioManifests, MistakesNameFileAndLine) {
  const std::string web = "kind: Deployment\nmetadata: {name: web}\n";
  const BadManifest all[] = {
      {"kind: [\n", "app.yaml:2:1: end of sequence flow not found"},
      {"a: b\n", "app.yaml:1:1: \"kind\" is missing: this is no Kubernetes object"},
      {"text", "app.yaml:1:1: \"kind\" is missing: this is no Kubernetes object"},
      {"kind: Deployment\n", "app.yaml:1:1: metadata.name: is missing"},
      {web + "---\n" + web,
       "app.yaml:4:1: metadata.name: \"web\" is also the name of something else"},
      {"kind: Job\nmetadata: {name: own}\n",
       "app.yaml:1:1: metadata.name: \"own\" is also the name of something else"},
      {"kind: Job\nmetadata: {name: a-1}\n",
       "app.yaml:1:1: metadata.name: \"a-1\" is also the name of something else"},
      {web + "spec: {replicas: many}\n",
       "app.yaml:3:18: spec.replicas: expected a whole number from 0 to 1000000, not \"many\""},
      {web + "spec: {template: {spec: {containers: [{resources: {requests: {cpu: x}}}]}}}\n",
       "app.yaml:3:68: resources.requests.cpu: not a quantity like 500m or 4Gi: \"x\""},
  };
  for (const auto& [text, error] : all) {
    EXPECT_EQ(error_of(manifest_base, {}, {{"app.yaml", text}}), error) << text;
  }
}

TEST(ScenarioManifests, BytesAreLimited) {
  ScenarioLimits limits;
  limits.manifest_bytes = 20;
  EXPECT_EQ(error_of(manifest_base, {}, {{"app.yaml", "kind: Service # a long comment\n"}}, limits),
            "s.yaml:5:13: manifests[0]: the manifests have more than 20 bytes together");
}

}  // namespace
}  // namespace holdfast::agent::lab
