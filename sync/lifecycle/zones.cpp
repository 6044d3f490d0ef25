#include "sync/lifecycle/zones.h"

#include <algorithm>

namespace holdfast::sync::lifecycle {

Zone& Zones::join(MonoTime now, const std::string& key) {
  const double rate = static_cast<double>(options_.eviction_rate);
  Zone& zone = zones_.try_emplace(key, now, rate).first->second;
  ++zone.members;
  return zone;
}

Zones::ClusterChange Zones::end_pass(MonoTime now) {
  // Whether all zones with counted nodes are fully disrupted, now and after the last pass.
  bool all_full = true;
  bool all_were_full = true;
  for (auto& [key, zone] : zones_) {
    if (zone.count.all() == 0) {
      zone.has_state = false;
      continue;
    }
    if (!zone.has_state) zone.state = ZoneState::initial;
    zone.has_state = true;
    if (zone_state(zone.count, options_) != ZoneState::full_disruption) all_full = false;
    if (zone.state != ZoneState::full_disruption) all_were_full = false;
  }
  std::erase_if(zones_, [](const auto& entry) { return entry.second.members == 0; });

  if (all_full && all_were_full) return ClusterChange::none;
  if (!all_full) {
    set_states(now, all_were_full);
    return all_were_full ? ClusterChange::some_came_back : ClusterChange::none;
  }
  for (auto& [key, zone] : zones_) {
    zone.queue.set_rate(now, 0);
    if (zone.has_state) zone.state = ZoneState::full_disruption;
  }
  return ClusterChange::all_went_down;
}

void Zones::set_states(MonoTime now, bool every_zone) {
  for (auto& [key, zone] : zones_) {
    if (!zone.has_state) {
      // No node of the zone counts, so it is not disrupted. If it was stopped, it starts again.
      if (every_zone) zone.queue.set_rate(now, static_cast<double>(options_.eviction_rate));
      continue;
    }
    const ZoneState state = zone_state(zone.count, options_);
    if (state == zone.state && !every_zone) continue;
    zone.state = state;
    zone.queue.set_rate(now, eviction_rate(state, zone.count.all(), options_));
  }
}

MonoTime Zones::next() const {
  MonoTime next = MonoTime::max();
  for (const auto& [key, zone] : zones_) next = std::min(next, zone.queue.next());
  return next;
}

}  // namespace holdfast::sync::lifecycle
