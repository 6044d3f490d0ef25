// VolumeRestrictions: claims that only one pod may use, and network disks that pods on one node
// may not share.

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sync/schedule/filters/plugins.h"
#include "sync/schedule/names.h"

namespace holdfast::sync::schedule {
namespace {

int users_in(const std::vector<const PodView*>& pods, const ClaimName& claim) {
  return static_cast<int>(std::count_if(pods.begin(), pods.end(), [&claim](const PodView* pod) {
    return pod->namespace_name() == claim.first && pod->uses_claim(claim.second);
  }));
}

bool shares_monitor(const RbdDisk& left, const RbdDisk& right) {
  return std::any_of(left.monitors.begin(), left.monitors.end(), [&right](const auto& each) {
    return std::find(right.monitors.begin(), right.monitors.end(), each) != right.monitors.end();
  });
}

bool is_same(const GceDisk& left, const GceDisk& right) { return left.pd_name == right.pd_name; }
bool is_same(const IscsiDisk& left, const IscsiDisk& right) { return left.iqn == right.iqn; }
bool is_same(const RbdDisk& left, const RbdDisk& right) {
  return left.pool == right.pool && left.image == right.image && shares_monitor(left, right);
}

// The same disk, unless both pods only read it.
template <class Disk>
bool excludes(const Boxed<Disk>& left, const Boxed<Disk>& right) {
  return left && right && is_same(*left, *right) && !(left->read_only && right->read_only);
}

bool conflict(const PodVolume& left, const PodVolume& right) {
  const auto& aws = left.aws_elastic_block_store;
  const auto& other_aws = right.aws_elastic_block_store;
  return (aws && other_aws && aws->volume_id == other_aws->volume_id) ||
         excludes(left.gce_persistent_disk, right.gce_persistent_disk) ||
         excludes(left.iscsi, right.iscsi) || excludes(left.rbd, right.rbd);
}

class Restrictions final : public Filter {
 public:
  Restrictions(const Cluster& cluster, const PodView& pod, std::vector<ClaimName> claims)
      : Filter(plugin_volume_restrictions),
        cluster_(cluster),
        pod_(pod),
        claims_(std::move(claims)) {}

  FitStatus check(const Trial& trial, std::span<const int>) const override {
    bool shared = false;
    trial.each_with_volumes(
        [this, &shared](const PodView& other) { shared = shared || disks_conflict(pod_, other); });
    if (shared) return reject(Code::unschedulable, std::string(reason_disk_conflict));
    for (const ClaimName& claim : claims_) {
      // The user may be on any node.
      const int users = cluster_.users_of(claim) + users_in(trial.added(), claim) -
                        users_in(trial.removed(), claim);
      if (users > 0) return reject(Code::unschedulable, std::string(reason_exclusive_claim));
    }
    return {};
  }

 private:
  const Cluster& cluster_;
  const PodView& pod_;
  std::vector<ClaimName> claims_;  // that only one pod may use
};

}  // namespace

bool disks_conflict(const PodView& left, const PodView& right) {
  if (!left.volumes || !right.volumes) return false;
  const auto& disks = left.volumes->disks;
  const auto& others = right.volumes->disks;
  return std::any_of(disks.begin(), disks.end(), [&others](const PodVolume* disk) {
    return std::any_of(others.begin(), others.end(),
                       [disk](const PodVolume* other) { return conflict(*disk, *other); });
  });
}

Plugin volume_restrictions() {
  return {plugin_volume_restrictions, [](const Cluster& cluster, const PodView& pod) {
            if (!pod.volumes) return Prepared{nullptr, {}};
            std::vector<ClaimName> exclusive;
            for (const ClaimUse& use : pod.claims()) {
              ClaimName name{pod.namespace_name(), use.claim};
              const Claim* claim = cluster.storage().claim(name);
              if (claim != nullptr && claim->is_exclusive()) exclusive.push_back(std::move(name));
            }
            if (exclusive.empty() && pod.volumes->disks.empty()) return Prepared{nullptr, {}};
            return Prepared{std::make_unique<Restrictions>(cluster, pod, std::move(exclusive)), {}};
          }};
}

}  // namespace holdfast::sync::schedule
