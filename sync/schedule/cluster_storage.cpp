// The part of ClusterState for claims, volumes, storage classes and the limits of CSI nodes.

#include <string>
#include <utility>
#include <vector>

#include "sync/schedule/cluster_state.h"

namespace holdfast::sync::schedule {

void ClusterState::set(MonoTime now, const PersistentVolumeClaim& claim) {
  Storage& storage = cluster_.storage();
  Claim after = read_claim(claim);
  const Claim* before = storage.claim(after.name);
  // A relist delivers unchanged objects again.
  if (before != nullptr && !after.version.empty() && before->version == after.version) return;
  const Event event = claim_changed(before, after);
  storage.set(std::move(after));
  queue_.happened(now, event);
}

void ClusterState::set(MonoTime now, const PersistentVolume& volume) {
  Storage& storage = cluster_.storage();
  Volume after = read_volume(volume);
  const Volume* before = storage.volume(after.name);
  if (before != nullptr && !after.version.empty() && before->version == after.version) return;
  const std::vector<Event> events = volume_changed(before, after);
  storage.set(std::move(after));
  for (const Event& event : events) queue_.happened(now, event);
}

void ClusterState::set(MonoTime now, const StorageClass& storage_class) {
  Storage& storage = cluster_.storage();
  VolumeClass after = read_class(storage_class);
  const std::vector<Event> events = class_changed(storage.volume_class(after.name), after);
  storage.set(std::move(after));
  for (const Event& event : events) queue_.happened(now, event);
}

void ClusterState::set(MonoTime now, const CsiNode& node) {
  Storage& storage = cluster_.storage();
  VolumeLimits after = read_limits(node);
  const std::vector<Event> events = limits_changed(storage.limits(node.metadata.name), after);
  storage.set_limits(node.metadata.name, std::move(after));
  for (const Event& event : events) queue_.happened(now, event);
}

void ClusterState::release_volumes(MonoTime now, const VolumePlan& plan) {
  revert(cluster_.storage(), plan);
  if (!plan.bind.empty() || !plan.select.empty()) queue_.happened(now, volumes_released());
}

void ClusterState::set_storage_missing(MonoTime now, const std::string& why) {
  Storage& storage = cluster_.storage();
  if (storage.missing() == why) return;
  storage.set_missing(why);
  if (why.empty()) queue_.happened(now, storage_known());
}

}  // namespace holdfast::sync::schedule
