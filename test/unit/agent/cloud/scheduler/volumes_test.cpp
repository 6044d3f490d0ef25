// Pods that must not be bound, or not yet: volumes, devices, and nodes with resized pods. The
// scheduler runs against the lab's API server; the test acts as the volume controller.

#include "test/unit/agent/cloud/scheduler/scheduler_fixture.h"

namespace holdfast::agent {
namespace {

const std::string claims_path = "/api/v1/namespaces/default/persistentvolumeclaims";
const std::string volumes_path = "/api/v1/persistentvolumes";
const std::string classes_path = "/apis/storage.k8s.io/v1/storageclasses";

const std::string with_claim =
    R"("volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"c"}}])";

// Adds the claim "c" of the class, with more members of its spec.
void add_claim(SchedulerFixture& fixture, const std::string& class_name,
               const std::string& mode = "ReadWriteOnce", const std::string& rest = "") {
  fixture.cluster.ask(
      http::Method::post, claims_path,
      R"({"kind":"PersistentVolumeClaim","apiVersion":"v1","metadata":{"name":"c"},)"
      R"("spec":{"storageClassName":")" +
          class_name + R"(","accessModes":[")" + mode +
          R"("],"resources":{"requests":{"storage":"1Gi"}})" + rest + "}}");
}

void add_class(SchedulerFixture& fixture, const std::string& name, const std::string& mode) {
  fixture.cluster.ask(http::Method::post, classes_path,
                      R"({"kind":"StorageClass","apiVersion":"storage.k8s.io/v1","metadata":)"
                      R"({"name":")" +
                          name + R"("},"provisioner":"csi.example.com","volumeBindingMode":")" +
                          mode + R"("})");
}

// Adds the volume "pv" for nodes with kubernetes.io/hostname=HOST; "": for all.
void add_volume(SchedulerFixture& fixture, const std::string& host,
                const std::string& class_name = "wait") {
  const std::string affinity =
      host.empty() ? ""
                   : R"(,"nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[)"
                     R"({"key":"kubernetes.io/hostname","operator":"In","values":[")" +
                         host + R"("]}]}]}})";
  fixture.cluster.ask(http::Method::post, volumes_path,
                      R"({"kind":"PersistentVolume","apiVersion":"v1","metadata":{"name":"pv"},)"
                      R"("spec":{"storageClassName":")" +
                          class_name +
                          R"(","accessModes":["ReadWriteOnce","ReadWriteOncePod"],"capacity":)"
                          R"({"storage":"1Gi"},"hostPath":{"path":"/x"})" +
                          affinity + "}}");
  fixture.cluster.ask(http::Method::patch, volumes_path + "/pv/status",
                      R"({"status":{"phase":"Available"}})", SchedulerFixture::merge);
}

// Binds the claim "c" to the volume "pv", as the volume controller does.
void bind_claim(SchedulerFixture& fixture) {
  fixture.cluster.ask(http::Method::patch, claims_path + "/c",
                      R"({"metadata":{"annotations":{"pv.kubernetes.io/bind-completed":"yes"}},)"
                      R"("spec":{"volumeName":"pv"}})",
                      SchedulerFixture::merge);
  fixture.cluster.ask(http::Method::patch, claims_path + "/c/status",
                      R"({"status":{"phase":"Bound"}})", SchedulerFixture::merge);
}

struct NotBound {
  std::string what;
  std::function<void(SchedulerFixture&)> prepare;
  std::string rest;  // of the pod's spec
  std::string why;   // part of its condition and of its event
};

const std::vector<NotBound>& not_bound() {
  static const std::vector<NotBound> all = {
      {"a claim that does not exist", [](SchedulerFixture&) {}, with_claim,
       "persistentvolumeclaim \"c\" not found"},
      {"a generic ephemeral volume without its claim", [](SchedulerFixture&) {},
       R"("volumes":[{"name":"v","ephemeral":{"volumeClaimTemplate":{"spec":{"accessModes":)"
       R"(["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}}}])",
       "waiting for ephemeral volume controller to create the persistentvolumeclaim \"p-v\""},
      {"a claim that has to be bound at once",
       [](SchedulerFixture& fixture) { add_claim(fixture, "now"); }, with_claim,
       "pod has unbound immediate PersistentVolumeClaims"},
      {"a claim bound to a local volume of another node",
       [](SchedulerFixture& fixture) {
         add_volume(fixture, "elsewhere");
         add_claim(fixture, "wait");
         bind_claim(fixture);
       },
       with_claim, "1 node(s) didn't match PersistentVolume's node affinity"},
      {"a claim for one pod that is in use",
       [](SchedulerFixture& fixture) {
         add_volume(fixture, "");
         add_claim(fixture, "wait", "ReadWriteOncePod");
         bind_claim(fixture);
         fixture.add_pod("user", "1", R"("nodeName":"a",)" + with_claim);
       },
       with_claim,
       "1 node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode "
       "already in-use by another pod"},
      {"a device", [](SchedulerFixture&) {},
       R"("resourceClaims":[{"name":"gpu","resourceClaimName":"g"}])",
       "dynamic resource allocation is not supported: spec.resourceClaims [gpu]"},
      {"a request of the pod as a whole", [](SchedulerFixture&) {},
       R"("resources":{"requests":{"cpu":"5"}})", "1 Insufficient cpu"},
      {"a node whose pod was resized",
       [](SchedulerFixture& fixture) {
         fixture.add_pod("resized", "1", R"("nodeName":"a")");
         fixture.cluster.ask(
             http::Method::patch, SchedulerFixture::pods + "/resized/status",
             R"({"status":{"phase":"Running","containerStatuses":[{"name":"c","image":"i",)"
             R"("imageID":"i","ready":true,"restartCount":0,"allocatedResources":{"cpu":"3500m"},)"
             R"("resources":{"requests":{"cpu":"3500m"}}}]}})",
             SchedulerFixture::strategic);
       },
       "", "1 Insufficient cpu"},
  };
  return all;
}

TEST(Volumes, APodThatMustNotBeBoundSaysWhy) {
  for (const NotBound& each : not_bound()) {
    SchedulerFixture fixture;
    fixture.add_node("a");
    add_class(fixture, "wait", "WaitForFirstConsumer");
    add_class(fixture, "now", "Immediate");
    each.prepare(fixture);
    fixture.start();
    fixture.add_pod("p", "1", each.rest);
    fixture.add_pod("plain", "100m");
    EXPECT_TRUE(fixture.until([&] { return !fixture.condition("p", "PodScheduled").empty(); }))
        << each.what;
    fixture.cluster.time.run(20s);
    EXPECT_FALSE(fixture.is_bound("p")) << each.what;
    EXPECT_TRUE(fixture.is_bound("plain")) << each.what;
    const std::string condition = fixture.condition("p", "PodScheduled");
    EXPECT_EQ(condition.find("False Unschedulable: 0/1 nodes are available: "), 0u) << condition;
    EXPECT_NE(condition.find(each.why), std::string::npos) << each.what << ": " << condition;
    EXPECT_NE(fixture.events("p").find(each.why), std::string::npos) << fixture.events("p");
  }
}

TEST(Volumes, AClaimThatAppearsLetsItsPodBeBound) {
  SchedulerFixture fixture;
  fixture.add_node("a");
  fixture.start();
  fixture.add_pod("p", "1", with_claim);
  ASSERT_TRUE(fixture.until([&] { return !fixture.condition("p", "PodScheduled").empty(); }));
  add_volume(fixture, "");
  add_claim(fixture, "wait");
  bind_claim(fixture);
  ASSERT_TRUE(fixture.until([&] { return fixture.is_bound("p"); }));
}

TEST(Volumes, TheNodeOfAWaitingClaimIsSelectedAndThePodWaits) {
  SchedulerFixture fixture;
  fixture.add_node("a");
  add_class(fixture, "wait", "WaitForFirstConsumer");
  add_claim(fixture, "wait");
  fixture.start();
  fixture.add_pod("p", "1", with_claim);
  const auto claim = [&] { return fixture.cluster.ask(http::Method::get, claims_path + "/c"); };
  ASSERT_TRUE(fixture.until([&] {
    return claim().find(R"("volume.kubernetes.io/selected-node":"a")") != std::string::npos;
  }));
  fixture.cluster.time.run(30s);
  EXPECT_FALSE(fixture.is_bound("p"));
  EXPECT_EQ(fixture.cluster_state().assumed(), 1u);
  add_volume(fixture, "");
  bind_claim(fixture);
  ASSERT_TRUE(fixture.until([&] { return fixture.is_bound("p"); }));
  fixture.cluster.time.run(1s);
  EXPECT_EQ(fixture.cluster_state().assumed(), 0u);
}

TEST(Volumes, AnAvailableVolumeIsReservedForTheClaim) {
  SchedulerFixture fixture;
  fixture.add_node("a");
  add_class(fixture, "wait", "WaitForFirstConsumer");
  add_volume(fixture, "");
  add_claim(fixture, "wait");
  fixture.start();
  fixture.add_pod("p", "1", with_claim);
  std::string volume;
  ASSERT_TRUE(fixture.until([&] {
    volume = fixture.cluster.ask(http::Method::get, volumes_path + "/pv");
    return volume.find(R"("claimRef")") != std::string::npos;
  }));
  EXPECT_NE(volume.find(R"("pv.kubernetes.io/bound-by-controller":"yes")"), std::string::npos);
  EXPECT_FALSE(fixture.is_bound("p"));
  bind_claim(fixture);
  EXPECT_TRUE(fixture.until([&] { return fixture.is_bound("p"); }));
}

TEST(Volumes, OnlyTheSchedulerWatchesThem) {
  const std::vector<std::string> lists = {"GET " + volumes_path, "GET " + classes_path,
                                          "GET /api/v1/persistentvolumeclaims",
                                          "GET /apis/storage.k8s.io/v1/csinodes"};
  for (const char* controllers : {"*", "scheduler"}) {
    SchedulerFixture fixture;
    CloudSettings settings = fixture.settings();
    settings.controllers = {controllers};
    fixture.start(settings);
    fixture.cluster.time.run(10s);
    const bool expected = controllers == std::string("scheduler");
    for (const std::string& list : lists) EXPECT_EQ(fixture.asked(list) > 0, expected) << list;
  }
}

TEST(Volumes, WithoutPermissionPodsWithClaimsWaitAndSayWhy) {
  SchedulerFixture fixture;
  fixture.add_node("a");
  add_volume(fixture, "");
  add_claim(fixture, "wait");
  bind_claim(fixture);
  fixture.cluster.proxy.refuse("GET /apis/storage.k8s.io/v1/csinodes");
  fixture.start();
  fixture.add_pod("p", "1", with_claim);
  fixture.add_pod("plain", "1");
  ASSERT_TRUE(fixture.until([&] { return fixture.is_bound("plain"); }));
  ASSERT_TRUE(fixture.until([&] { return !fixture.condition("p", "PodScheduled").empty(); }));
  const std::string condition = fixture.condition("p", "PodScheduled");
  EXPECT_NE(condition.find("the pod's volumes cannot be checked: never received in full: csinodes"),
            std::string::npos)
      << condition;
  fixture.cluster.time.run(30s);
  EXPECT_FALSE(fixture.is_bound("p"));
  fixture.cluster.proxy.refuse("");
  EXPECT_TRUE(fixture.until([&] { return fixture.is_bound("p"); }));
}

}  // namespace
}  // namespace holdfast::agent
