// The filters for volumes: which nodes a pod with claims, or with network disks, may go to.

#include <functional>
#include <utility>

#include "test/unit/sync/schedule/storage_fixture.h"

namespace holdfast::sync::schedule {
namespace {

using test::make_claim;
using test::make_pod;
using test::make_volume;
using test::use_claim;

// Nodes a and b, and the pod "p" of priority 1000.
struct VolumeWorld {
  VolumeWorld() {
    for (const char* name : {"a", "b"}) cluster.nodes.push_back(test::make_node(name));
    cluster.incoming = make_pod("p", 1000, "100");
    cluster.storage = std::make_shared<test::StorageFixture>();
  }
  test::StorageFixture& storage() { return *cluster.storage; }
  Pod& pod() { return cluster.incoming; }

  // Adds a claim that is bound to a new volume, and uses it.
  PersistentVolume& add_bound(const std::string& name) {
    storage().claims.push_back(test::bound_claim(name, "pv-" + name));
    storage().volumes.push_back(make_volume("pv-" + name));
    test::reserve(storage().volumes.back(), storage().claims.back());
    storage().volumes.back().status.phase = "Bound";
    use_claim(pod(), name);
    return storage().volumes.back();
  }

  test::ClusterFixture cluster;
};

struct VolumeCase {
  std::string what;
  std::function<void(VolumeWorld&)> make;
  std::string a;  // why node a is rejected, "" if it is not
  std::string b;
  Code code = Code::unresolvable;  // of node a, if it is rejected
};

const std::string affinity = "node(s) didn't match PersistentVolume's node affinity";
const std::string no_volume = "node(s) didn't find available persistent volumes to bind";
const std::string immediate = "pod has unbound immediate PersistentVolumeClaims";
const std::string no_zone = "node(s) had no available volume zone";
const std::string in_use =
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already "
    "in-use by another pod";

const std::vector<VolumeCase>& claim_cases() {
  static const std::vector<VolumeCase> all = {
      {"a claim that does not exist", [](VolumeWorld& w) { use_claim(w.pod(), "c"); },
       "persistentvolumeclaim \"c\" not found", "persistentvolumeclaim \"c\" not found"},
      {"an ephemeral volume without its claim",
       [](VolumeWorld& w) { test::use_ephemeral(w.pod()); },
       "waiting for ephemeral volume controller to create the persistentvolumeclaim \"p-v\"",
       "waiting for ephemeral volume controller to create the persistentvolumeclaim \"p-v\""},
      {"an ephemeral volume whose claim belongs to someone else",
       [](VolumeWorld& w) {
         test::use_ephemeral(w.pod());
         w.storage().claims.push_back(test::bound_claim("p-v", "pv"));
         w.storage().volumes.push_back(make_volume("pv"));
       },
       "PVC default/p-v was not created for pod default/p (pod is not owner)",
       "PVC default/p-v was not created for pod default/p (pod is not owner)"},
      {"an ephemeral volume with its own claim",
       [](VolumeWorld& w) {
         test::use_ephemeral(w.pod());
         w.storage().claims.push_back(test::bound_claim("p-v", "pv"));
         OwnerReference& owner = w.storage().claims[0].metadata.owner_references.emplace_back();
         owner.uid = "uid-p";
         owner.controller = true;
         w.storage().volumes.push_back(make_volume("pv"));
       },
       "", ""},
      {"a claim of a class that binds at once",
       [](VolumeWorld& w) {
         w.storage().claims.push_back(make_claim("c", "now"));
         use_claim(w.pod(), "c");
       },
       immediate, immediate},
      {"a claim of a class that does not exist",
       [](VolumeWorld& w) {
         w.storage().claims.push_back(make_claim("c", "other"));
         use_claim(w.pod(), "c");
       },
       immediate, immediate},
      {"a claim that names a volume and is not bound",
       [](VolumeWorld& w) {
         w.storage().claims.push_back(make_claim("c"));
         w.storage().claims[0].spec.volume_name = "pv";
         use_claim(w.pod(), "c");
       },
       immediate, immediate},
      {"a claim that is being deleted",
       [](VolumeWorld& w) {
         w.add_bound("c");
         w.storage().claims[0].metadata.deletion_timestamp = test::wall_now;
       },
       "persistentvolumeclaim \"c\" is being deleted",
       "persistentvolumeclaim \"c\" is being deleted"},
      {"a claim that lost its volume",
       [](VolumeWorld& w) {
         w.add_bound("c");
         w.storage().claims[0].status.phase = "Lost";
       },
       "persistentvolumeclaim \"c\" bound to non-existent persistentvolume \"pv-c\"",
       "persistentvolumeclaim \"c\" bound to non-existent persistentvolume \"pv-c\""},
      {"a claim whose volume does not exist",
       [](VolumeWorld& w) {
         w.add_bound("c");
         w.storage().volumes.clear();
       },
       "persistentvolume \"pv-c\" not found", "persistentvolume \"pv-c\" not found"},
      {"a volume that every node reaches", [](VolumeWorld& w) { w.add_bound("c"); }, "", ""},
      {"a local volume of another node",
       [](VolumeWorld& w) { test::keep_on(w.add_bound("c"), "b"); }, affinity, ""},
      {"a claim of another namespace with the same name",
       [](VolumeWorld& w) {
         w.add_bound("c");
         w.storage().claims[0].metadata.namespace_name = "other";
       },
       "persistentvolumeclaim \"c\" not found", "persistentvolumeclaim \"c\" not found"},
      {"volumes that are not known",
       [](VolumeWorld& w) {
         w.add_bound("c");
         w.storage().missing = "cannot list persistentvolumes";
       },
       "the pod's volumes cannot be checked: cannot list persistentvolumes",
       "the pod's volumes cannot be checked: cannot list persistentvolumes"},
      {"volumes that are not known and not needed",
       [](VolumeWorld& w) { w.storage().missing = "cannot list persistentvolumes"; }, "", ""},
  };
  return all;
}

const std::vector<VolumeCase>& waiting_cases() {
  static const std::vector<VolumeCase> all = {
      {"a volume can be made anywhere",
       [](VolumeWorld& w) {
         w.storage().claims.push_back(make_claim("c"));
         use_claim(w.pod(), "c");
       },
       "", ""},
      {"the node is selected already",
       [](VolumeWorld& w) {
         w.storage().claims.push_back(make_claim("c"));
         w.storage().claims[0].metadata.annotations.set("volume.kubernetes.io/selected-node", "b");
         use_claim(w.pod(), "c");
       },
       no_volume, ""},
      {"the class makes volumes only in some places",
       [](VolumeWorld& w) {
         w.storage().claims.push_back(make_claim("c"));
         w.storage().classes[0].allowed_topologies.push_back({{{"host", {"b"}, {}}}, {}});
         use_claim(w.pod(), "c");
       },
       no_volume, ""},
      {"the class makes no volumes, and a local volume is available",
       [](VolumeWorld& w) {
         w.storage().classes[0].provisioner = "kubernetes.io/no-provisioner";
         w.storage().claims.push_back(make_claim("c"));
         w.storage().volumes.push_back(make_volume("pv"));
         test::keep_on(w.storage().volumes[0], "b");
         use_claim(w.pod(), "c");
       },
       no_volume, ""},
      {"two claims and one volume",
       [](VolumeWorld& w) {
         w.storage().classes[0].provisioner = "kubernetes.io/no-provisioner";
         for (const char* name : {"c", "d"}) {
           w.storage().claims.push_back(make_claim(name));
           use_claim(w.pod(), name);
         }
         w.storage().volumes.push_back(make_volume("pv"));
       },
       no_volume, no_volume},
  };
  return all;
}

// Each change makes the only volume unsuitable for the claim "c" of a class without provisioner.
const std::vector<std::pair<std::string, std::function<void(PersistentVolume&)>>>& unsuitable() {
  static const std::vector<std::pair<std::string, std::function<void(PersistentVolume&)>>> all = {
      {"too small", [](auto& volume) { volume.spec.capacity.set("storage", "1Mi"); }},
      {"another mode", [](auto& volume) { volume.spec.volume_mode = "Block"; }},
      {"other access", [](auto& volume) { volume.spec.access_modes = {"ReadOnlyMany"}; }},
      {"another class", [](auto& volume) { volume.spec.storage_class_name = "now"; }},
      {"released", [](auto& volume) { volume.status.phase = "Released"; }},
      {"being deleted", [](auto& v) { v.metadata.deletion_timestamp = test::wall_now; }},
      {"of another claim", [](auto& volume) { test::reserve(volume, make_claim("d")); }},
      {"other attributes", [](auto& v) { v.spec.volume_attributes_class_name = "gold"; }},
  };
  return all;
}

const std::vector<VolumeCase>& other_cases() {
  static const std::vector<VolumeCase> all = {
      {"a volume of another zone",
       [](VolumeWorld& w) {
         w.add_bound("c").metadata.labels.set("topology.kubernetes.io/zone", "east");
         w.cluster.nodes[0].metadata.labels.set("topology.kubernetes.io/zone", "west");
         w.cluster.nodes[1].metadata.labels.set("topology.kubernetes.io/zone", "east");
       },
       no_zone, ""},
      {"a volume of several zones, with the old label",
       [](VolumeWorld& w) {
         w.add_bound("c").metadata.labels.set("failure-domain.beta.kubernetes.io/zone",
                                              "north__east");
         w.cluster.nodes[0].metadata.labels.set("topology.kubernetes.io/zone", "west");
         w.cluster.nodes[1].metadata.labels.set("topology.kubernetes.io/zone", "east");
       },
       no_zone, ""},
      {"a volume of a zone, and nodes without zones",
       [](VolumeWorld& w) {
         w.add_bound("c").metadata.labels.set("topology.kubernetes.io/zone", "east");
       },
       "", ""},
      {"a claim for one pod that another pod uses elsewhere",
       [](VolumeWorld& w) {
         w.add_bound("c");
         w.storage().claims[0].spec.access_modes = {"ReadWriteOncePod"};
         w.cluster.pods.push_back(make_pod("user", 0, "100", "b"));
         use_claim(w.cluster.pods[0], "c");
       },
       in_use, in_use, Code::unschedulable},
      {"a claim for one pod whose user has ended",
       [](VolumeWorld& w) {
         w.add_bound("c");
         w.storage().claims[0].spec.access_modes = {"ReadWriteOncePod"};
         w.cluster.pods.push_back(make_pod("user", 0, "100", "b"));
         w.cluster.pods[0].status.phase = "Succeeded";
         use_claim(w.cluster.pods[0], "c");
       },
       "", ""},
      {"a claim for several pods that another pod uses",
       [](VolumeWorld& w) {
         w.add_bound("c");
         w.cluster.pods.push_back(make_pod("user", 0, "100", "b"));
         use_claim(w.cluster.pods[0], "c");
       },
       "", ""},
      {"as many volumes as the node can attach",
       [](VolumeWorld& w) {
         for (const char* name : {"c", "d"}) {
           w.add_bound(name).spec.csi = CsiPersistentVolumeSource{"csi.example.com", name, {}};
         }
         w.pod().spec.volumes.pop_back();
         w.cluster.pods.push_back(make_pod("user", 0, "100", "a"));
         use_claim(w.cluster.pods[0], "d");
         w.storage().csi_nodes.push_back(test::make_csi_node("a", 1));
       },
       "node(s) exceed max volume count", "", Code::unschedulable},
      {"a volume that is attached for another pod already",
       [](VolumeWorld& w) {
         w.add_bound("c").spec.csi = CsiPersistentVolumeSource{"csi.example.com", "c", {}};
         w.cluster.pods.push_back(make_pod("user", 0, "100", "a"));
         use_claim(w.cluster.pods[0], "c");
         w.storage().csi_nodes.push_back(test::make_csi_node("a", 1));
       },
       "", ""},
      {"a volume that is still to be made",
       [](VolumeWorld& w) {
         w.storage().claims.push_back(make_claim("c"));
         use_claim(w.pod(), "c");
         w.storage().csi_nodes.push_back(test::make_csi_node("a", 0));
       },
       "node(s) exceed max volume count", "", Code::unschedulable},
      {"a network disk that a pod of the node uses",
       [](VolumeWorld& w) {
         w.pod().spec.volumes.emplace_back().gce_persistent_disk = GceDisk{"disk", true, {}};
         w.cluster.pods.push_back(make_pod("user", 0, "100", "a"));
         w.cluster.pods[0].spec.volumes.emplace_back().gce_persistent_disk =
             GceDisk{"disk", false, {}};
       },
       "node(s) had no available disk", "", Code::unschedulable},
      {"a network disk that both pods only read",
       [](VolumeWorld& w) {
         w.pod().spec.volumes.emplace_back().iscsi = IscsiDisk{"iqn", true, {}};
         w.cluster.pods.push_back(make_pod("user", 0, "100", "a"));
         w.cluster.pods[0].spec.volumes.emplace_back().iscsi = IscsiDisk{"iqn", true, {}};
       },
       "", ""},
  };
  return all;
}

void expect_all(const std::vector<VolumeCase>& cases) {
  for (const VolumeCase& each : cases) {
    VolumeWorld world;
    each.make(world);
    const FitStatus on_a = test::fits(world.cluster, "a");
    EXPECT_EQ(on_a.message(), each.a) << each.what;
    if (!each.a.empty()) {
      EXPECT_EQ(on_a.code, each.code) << each.what;
    }
    EXPECT_EQ(test::fits(world.cluster, "b").message(), each.b) << each.what;
  }
}

TEST(VolumeFilters, ClaimsMustExistAndBeBoundWhereTheirVolumesAre) { expect_all(claim_cases()); }

TEST(VolumeFilters, AWaitingClaimNeedsAVolumeOrAPlaceToMakeOne) { expect_all(waiting_cases()); }

TEST(VolumeFilters, ZonesLimitsAndExclusiveUse) { expect_all(other_cases()); }

TEST(VolumeFilters, OnlyASuitableVolumeIsTaken) {
  const auto world_with = [](const std::function<void(PersistentVolume&)>& change) {
    VolumeWorld world;
    world.storage().classes[0].provisioner = "kubernetes.io/no-provisioner";
    world.storage().claims.push_back(make_claim("c"));
    world.storage().volumes.push_back(make_volume("pv"));
    change(world.storage().volumes[0]);
    use_claim(world.pod(), "c");
    return test::fits(world.cluster, "a").message();
  };
  EXPECT_EQ(world_with([](PersistentVolume&) {}), "");
  for (const auto& [what, change] : unsuitable()) EXPECT_EQ(world_with(change), no_volume) << what;
}

TEST(VolumeFilters, PreemptionFreesAClaimForOnePodAndAnAttachedVolume) {
  VolumeWorld world;
  world.add_bound("c");
  world.storage().claims[0].spec.access_modes = {"ReadWriteOncePod"};
  world.cluster.pods.push_back(make_pod("other", 0, "100", "a"));
  world.cluster.pods.push_back(make_pod("user", 0, "100", "b"));
  use_claim(world.cluster.pods[1], "c");
  const test::Result freed = test::run(world.cluster);
  EXPECT_EQ(freed.node, "");
  ASSERT_TRUE(freed.preemption.chosen);
  EXPECT_EQ(freed.preemption.chosen->node, "b");
  EXPECT_EQ(freed.victims(), std::vector<std::string>{"user"});
  world.cluster.pods[1].spec.priority = 2000;
  EXPECT_FALSE(test::run(world.cluster).preemption.chosen);
}

TEST(VolumeFilters, PreemptionDoesNotMoveAVolume) {
  VolumeWorld world;
  test::keep_on(world.add_bound("c"), "elsewhere");
  world.cluster.pods.push_back(make_pod("other", 0, "100", "a"));
  const test::Result result = test::run(world.cluster);
  EXPECT_EQ(result.message,
            "0/2 nodes are available: 2 node(s) didn't match PersistentVolume's node affinity.");
  EXPECT_FALSE(result.preemption.chosen);
}

}  // namespace
}  // namespace holdfast::sync::schedule
