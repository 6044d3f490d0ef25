// VolumeBinding and VolumeZone: where the volumes of the pod's claims are, or can be.

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sync/schedule/filters/plugins.h"
#include "sync/schedule/names.h"
#include "sync/schedule/volumes/match.h"

namespace holdfast::sync::schedule {
namespace {

class Binding final : public Filter {
 public:
  Binding(const Storage& storage, PodClaims claims)
      : Filter(plugin_volume_binding), storage_(storage), claims_(std::move(claims)) {}

  FitStatus check(const Trial& trial, std::span<const int>) const override {
    std::vector<Match> matches;
    return match_claims(storage_, claims_, *trial.node().node, matches);
  }

 private:
  const Storage& storage_;
  PodClaims claims_;
};

Prepared prepare_binding(const Cluster& cluster, const PodView& pod) {
  if (pod.claims().empty()) return {nullptr, {}};
  const Storage& storage = cluster.storage();
  if (!storage.missing().empty()) {
    return {nullptr,
            reject(Code::unresolvable, "the pod's volumes cannot be checked: " + storage.missing(),
                   plugin_volume_binding)};
  }
  PodClaims claims;
  FitStatus sorted = sort_claims(storage, pod, claims);
  if (!sorted.ok()) return {nullptr, std::move(sorted)};
  return {std::make_unique<Binding>(storage, std::move(claims)), {}};
}

// Each label of the first kind was replaced by the one of the second kind in Kubernetes 1.17.
struct Renamed {
  std::string_view old_label;
  std::string_view label;
};
constexpr std::array<Renamed, 2> renamed = {
    {{"failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"},
     {"failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"}}};

class Zone final : public Filter {
 public:
  explicit Zone(std::vector<const Volume*> volumes)
      : Filter(plugin_volume_zone), volumes_(std::move(volumes)) {}

  FitStatus check(const Trial& trial, std::span<const int>) const override {
    const StringMap& labels = trial.node().labels();
    if (!has_zone(labels)) return {};
    for (const Volume* volume : volumes_) {
      for (const Volume::Zone& zone : volume->zones) {
        const std::string* value = value_of(labels, zone.key);
        if (value != nullptr && zone.values.contains(*value)) continue;
        return reject(Code::unresolvable, std::string(reason_volume_zone));
      }
    }
    return {};
  }

 private:
  static bool has_zone(const StringMap& labels) {
    return std::any_of(renamed.begin(), renamed.end(), [&labels](const Renamed& each) {
      return labels.has(each.old_label) || labels.has(each.label);
    });
  }
  // An old label of a volume also means the node's new label.
  static const std::string* value_of(const StringMap& labels, std::string_view key) {
    const std::string* value = labels.find(key);
    for (const Renamed& each : renamed) {
      if (value == nullptr && key == each.old_label) value = labels.find(each.label);
    }
    return value;
  }

  std::vector<const Volume*> volumes_;
};

Prepared prepare_zone(const Cluster& cluster, const PodView& pod) {
  std::vector<const Volume*> volumes;
  for (const ClaimUse& use : pod.claims()) {
    const Claim* claim = cluster.storage().claim({pod.namespace_name(), use.claim});
    if (claim == nullptr || claim->volume.empty()) continue;  // for VolumeBinding
    const Volume* volume = cluster.storage().volume(claim->volume);
    if (volume == nullptr) {
      return {nullptr,
              reject(Code::unresolvable, "persistentvolume \"" + claim->volume + "\" not found",
                     plugin_volume_zone)};
    }
    if (!volume->zones.empty()) volumes.push_back(volume);
  }
  if (volumes.empty()) return {nullptr, {}};
  return {std::make_unique<Zone>(std::move(volumes)), {}};
}

}  // namespace

Plugin volume_binding() { return {plugin_volume_binding, prepare_binding}; }

Plugin volume_zone() { return {plugin_volume_zone, prepare_zone}; }

}  // namespace holdfast::sync::schedule
