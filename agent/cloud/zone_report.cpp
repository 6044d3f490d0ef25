#include "agent/cloud/zone_report.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>
#include <utility>

#include "platform/log.h"

namespace holdfast::agent {

using sync::lifecycle::Zone;
using sync::lifecycle::Zones;
using sync::lifecycle::ZoneState;

namespace {

constexpr std::string_view separator{":\0:", 3};
constexpr ZoneState states[] = {ZoneState::normal, ZoneState::partial_disruption,
                                ZoneState::full_disruption};

// "0.1" instead of "0.100000".
std::string short_text(double rate) {
  std::array<char, 32> text{};
  (void)std::snprintf(text.data(), text.size(), "%g", rate);
  return text.data();
}

}  // namespace

std::string shown_zone(const std::string& key) {
  const std::size_t at = key.find(separator);
  if (at == std::string::npos) return "-";
  return key.substr(0, at) + "/" + key.substr(at + separator.size());
}

void ZoneReport::tell(const std::string& key, const Zone& zone, Metrics& metrics) {
  log_info("zone is now in another state",
           {{"zone", shown_zone(key)},
            {"state", to_string(zone.state)},
            {"ready", zone.count.ready},
            {"not_ready", zone.count.unready},
            {"evictions_per_second", short_text(zone.queue.limiter().rate())}});
  metrics
      .counter("holdfast_cloud_zone_changes_total", "Changes of a zone to this state.",
               {{"zone", key}, {"state", std::string(to_string(zone.state))}})
      .add();
}

void ZoneReport::compare(const Zones& zones, Metrics& metrics) {
  std::map<std::string, ZoneState> now;
  for (const auto& [key, zone] : zones.all()) {
    if (!zone.has_state) continue;
    now[key] = zone.state;
    const auto before = states_.find(key);
    const ZoneState known = before == states_.end() ? ZoneState::initial : before->second;
    // A new zone that is normal is no news.
    const bool is_news =
        zone.state != known && (known != ZoneState::initial || zone.state != ZoneState::normal);
    if (is_news) tell(key, zone, metrics);
  }
  const bool all_disrupted = !now.empty() && std::all_of(now.begin(), now.end(), [](auto& each) {
    return each.second == ZoneState::full_disruption;
  });
  if (all_disrupted != std::exchange(all_disrupted_, all_disrupted)) {
    if (all_disrupted) {
      log_warn("no node of any zone is Ready: nothing is evicted until one is");
    } else {
      log_warn("nodes are Ready again: evictions go on");
    }
  }
  for (const auto& [key, state] : states_) {
    if (!now.contains(key)) now[key] = ZoneState::initial;  // to be shown once more, with zeros
  }
  for (const auto& [key, state] : now) {
    for (const ZoneState each : states) {
      metrics
          .gauge("holdfast_cloud_zone_state", "1 for the state that the zone is in.",
                 {{"zone", key}, {"state", std::string(to_string(each))}})
          .set(each == state ? 1 : 0);
    }
  }
  metrics
      .gauge("holdfast_cloud_all_zones_disrupted",
             "1 while no node of any zone is Ready, so that nothing is evicted.")
      .set(all_disrupted ? 1 : 0);
  std::erase_if(now, [](const auto& each) { return each.second == ZoneState::initial; });
  states_ = std::move(now);
}

}  // namespace holdfast::agent
