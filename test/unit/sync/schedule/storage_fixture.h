// Claims, volumes and storage classes for the tests of scheduling.

#pragma once

#include <string>
#include <vector>

#include "sync/model/storage.h"
#include "test/unit/sync/schedule/cluster_fixture.h"

namespace holdfast::sync::schedule::test {

// A claim "default/NAME" with uid "uid-NAME" for 1Gi of the class, ReadWriteOnce.
[[nodiscard]] PersistentVolumeClaim make_claim(const std::string& name,
                                               const std::string& class_name = "wait");
// The claim, bound to the volume in both directions.
[[nodiscard]] PersistentVolumeClaim bound_claim(const std::string& name, const std::string& volume);

// A volume of 1Gi that is available for any claim of the class, ReadWriteOnce.
[[nodiscard]] PersistentVolume make_volume(const std::string& name,
                                           const std::string& class_name = "wait");
// The volume can only be used on nodes with the label host=`host`.
void keep_on(PersistentVolume& volume, const std::string& host);
void reserve(PersistentVolume& volume, const PersistentVolumeClaim& claim);

[[nodiscard]] StorageClass make_class(const std::string& name, const std::string& binding_mode,
                                      const std::string& provisioner = "csi.example.com");
[[nodiscard]] CsiNode make_csi_node(const std::string& name, int limit);

// Adds a volume that uses the claim, or the claim that is made for the volume "v".
void use_claim(Pod& pod, const std::string& claim);
void use_ephemeral(Pod& pod);

// The objects that a pod's claims need. The classes "wait", which waits for the first consumer, and
// "now" exist from the beginning.
struct StorageFixture {
  StorageFixture();

  void fill(Cluster& cluster) const;

  std::vector<PersistentVolumeClaim> claims;
  std::vector<PersistentVolume> volumes;
  std::vector<StorageClass> classes;
  std::vector<CsiNode> csi_nodes;
  std::string missing;
};

}  // namespace holdfast::sync::schedule::test
