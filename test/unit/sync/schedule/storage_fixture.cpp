#include "test/unit/sync/schedule/storage_fixture.h"

namespace holdfast::sync::schedule::test {

PersistentVolumeClaim make_claim(const std::string& name, const std::string& class_name) {
  PersistentVolumeClaim claim;
  claim.metadata.name = name;
  claim.metadata.namespace_name = "default";
  claim.metadata.uid = "uid-" + name;
  claim.metadata.resource_version = "1";
  claim.spec.storage_class_name = class_name;
  claim.spec.access_modes = {"ReadWriteOnce"};
  claim.spec.resources.requests.set("storage", "1Gi");
  claim.status.phase = "Pending";
  return claim;
}

PersistentVolumeClaim bound_claim(const std::string& name, const std::string& volume) {
  PersistentVolumeClaim claim = make_claim(name);
  claim.spec.volume_name = volume;
  claim.metadata.annotations.set("pv.kubernetes.io/bind-completed", "yes");
  claim.status.phase = "Bound";
  return claim;
}

PersistentVolume make_volume(const std::string& name, const std::string& class_name) {
  PersistentVolume volume;
  volume.metadata.name = name;
  volume.metadata.uid = "uid-" + name;
  volume.metadata.resource_version = "1";
  volume.spec.storage_class_name = class_name;
  volume.spec.access_modes = {"ReadWriteOnce"};
  volume.spec.capacity.set("storage", "1Gi");
  volume.status.phase = "Available";
  return volume;
}

void keep_on(PersistentVolume& volume, const std::string& host) {
  NodeSelector& required = volume.spec.node_affinity.emplace().required.emplace();
  required.node_selector_terms.emplace_back().match_expressions.push_back(
      {"host", "In", {host}, {}});
}

void reserve(PersistentVolume& volume, const PersistentVolumeClaim& claim) {
  ObjectReference& reference = volume.spec.claim_ref.emplace();
  reference.namespace_name = claim.metadata.namespace_name;
  reference.name = claim.metadata.name;
  reference.uid = claim.metadata.uid;
}

StorageClass make_class(const std::string& name, const std::string& binding_mode,
                        const std::string& provisioner) {
  StorageClass storage_class;
  storage_class.metadata.name = name;
  storage_class.provisioner = provisioner;
  storage_class.volume_binding_mode = binding_mode;
  return storage_class;
}

CsiNode make_csi_node(const std::string& name, int limit) {
  CsiNode node;
  node.metadata.name = name;
  CsiNodeDriver& driver = node.spec.drivers.emplace_back();
  driver.name = "csi.example.com";
  driver.allocatable.emplace().count = limit;
  return node;
}

void use_claim(Pod& pod, const std::string& claim) {
  PodVolume& volume = pod.spec.volumes.emplace_back();
  volume.name = "v" + std::to_string(pod.spec.volumes.size());
  volume.persistent_volume_claim = ClaimSource{claim, {}};
}

void use_ephemeral(Pod& pod) {
  PodVolume& volume = pod.spec.volumes.emplace_back();
  volume.name = "v";
  volume.ephemeral = EphemeralSource{};
}

StorageFixture::StorageFixture() {
  classes = {make_class("wait", "WaitForFirstConsumer"), make_class("now", "Immediate")};
}

void StorageFixture::fill(Cluster& cluster) const {
  Storage& storage = cluster.storage();
  for (const auto& claim : claims) storage.set(read_claim(claim));
  for (const auto& volume : volumes) storage.set(read_volume(volume));
  for (const auto& each : classes) storage.set(read_class(each));
  for (const auto& node : csi_nodes) storage.set_limits(node.metadata.name, read_limits(node));
  storage.set_missing(missing);
}

}  // namespace holdfast::sync::schedule::test
