// NodeVolumeLimits: how many volumes of a CSI driver can be attached to a node.

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "sync/schedule/filters/plugins.h"
#include "sync/schedule/names.h"

namespace holdfast::sync::schedule {
namespace {

// A volume by its driver and a handle that is unique for the driver.
using Attached = std::pair<std::string, std::string>;

// The volumes of the pod. One that is still to be made counts for the driver of its class.
void add_volumes(const Storage& storage, const PodView& pod, std::set<Attached>& out) {
  for (const ClaimUse& use : pod.claims()) {
    const Claim* claim = storage.claim({pod.namespace_name(), use.claim});
    if (claim == nullptr) continue;
    if (const Volume* volume = storage.volume(claim->volume)) {
      if (!volume->driver.empty()) out.emplace(volume->driver, volume->handle);
    } else if (const VolumeClass* found = storage.volume_class(claim->class_name)) {
      out.emplace(found->provisioner, "of " + claim->name.first + "/" + claim->name.second);
    }
  }
}

class Limits final : public Filter {
 public:
  Limits(const Storage& storage, std::set<Attached> wanted)
      : Filter(plugin_volume_limits), storage_(storage), wanted_(std::move(wanted)) {}

  FitStatus check(const Trial& trial, std::span<const int>) const override {
    const VolumeLimits* limits = storage_.limits(trial.node().name());
    if (limits == nullptr || limits->empty()) return {};
    std::set<Attached> attached;
    trial.each_with_volumes(
        [this, &attached](const PodView& pod) { add_volumes(storage_, pod, attached); });
    std::map<std::string, std::int64_t> more;
    for (const Attached& each : wanted_) {
      if (!attached.contains(each)) ++more[each.first];
    }
    for (const Attached& each : attached) {
      const auto found = more.find(each.first);
      if (found != more.end()) ++found->second;
    }
    for (const auto& [driver, count] : more) {
      const auto limit = limits->find(driver);
      if (limit != limits->end() && count > limit->second) {
        return reject(Code::unschedulable, std::string(reason_volume_limit));
      }
    }
    return {};
  }

 private:
  const Storage& storage_;
  std::set<Attached> wanted_;
};

}  // namespace

Plugin node_volume_limits() {
  return {plugin_volume_limits, [](const Cluster& cluster, const PodView& pod) {
            std::set<Attached> wanted;
            add_volumes(cluster.storage(), pod, wanted);
            if (wanted.empty()) return Prepared{nullptr, {}};
            return Prepared{std::make_unique<Limits>(cluster.storage(), std::move(wanted)), {}};
          }};
}

}  // namespace holdfast::sync::schedule
