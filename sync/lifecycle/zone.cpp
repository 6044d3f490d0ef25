#include "sync/lifecycle/zone.h"

#include "platform/check.h"
#include "sync/objects/names.h"

namespace holdfast::sync::lifecycle {
namespace {

std::string_view first_present(const StringMap& labels, std::string_view beta,
                               std::string_view stable) {
  const std::string* found = labels.find(beta);
  return found != nullptr ? std::string_view(*found) : labels.get(stable);
}

// Whether the name marked a master before there were labels: "...master", "...master-xyz".
bool named_like_a_master(std::string_view name) {
  if (name.ends_with("master")) return true;
  return name.size() >= 10 && name.substr(0, name.size() - 3).ends_with("master-");
}

}  // namespace

std::string_view to_string(ZoneState state) {
  switch (state) {
    case ZoneState::initial:
      return "Initial";
    case ZoneState::normal:
      return "Normal";
    case ZoneState::partial_disruption:
      return "PartialDisruption";
    case ZoneState::full_disruption:
      return "FullDisruption";
  }
  UNREACHABLE();
}

std::string zone_key(const StringMap& labels) {
  const std::string_view region =
      first_present(labels, objects::label_region_beta, objects::label_region);
  const std::string_view zone =
      first_present(labels, objects::label_zone_beta, objects::label_zone);
  if (region.empty() && zone.empty()) return {};
  std::string key(region);
  key.append(":\0:", 3);
  key.append(zone);
  return key;
}

bool excluded_from_disruption(std::string_view name, const StringMap& labels,
                              const Options& options) {
  if (options.legacy_node_role && named_like_a_master(name)) return true;
  return options.exclude_from_disruption && labels.has(objects::label_exclude_disruption);
}

ZoneState zone_state(const ZoneCount& count, const Options& options) {
  if (count.ready == 0 && count.unready > 0) return ZoneState::full_disruption;
  // 32-bit arithmetic as upstream, so that the comparison with the threshold gives the same result.
  const float share = static_cast<float>(count.unready) / static_cast<float>(count.all());
  if (count.unready > 2 && share >= options.unhealthy_zone_threshold) {
    return ZoneState::partial_disruption;
  }
  return ZoneState::normal;
}

double eviction_rate(ZoneState state, std::size_t size, const Options& options) {
  if (state != ZoneState::partial_disruption) return static_cast<double>(options.eviction_rate);
  if (size <= options.large_cluster_size) return 0;
  return static_cast<double>(options.secondary_eviction_rate);
}

}  // namespace holdfast::sync::lifecycle
