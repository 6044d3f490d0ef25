// All zones: their ready and unready nodes, their states, and their queues of nodes to evict.
//
// The counts follow every change of a node. At the end of each pass they determine the states, and
// the states determine the rates. When every zone is fully disrupted nothing is evicted, because
// the fault is probably on the controller's side. Upstream: handleDisruption().

#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "sync/lifecycle/options.h"
#include "sync/lifecycle/zone.h"
#include "sync/pacing/rate_queue.h"

namespace holdfast::sync::lifecycle {

struct Zone {
  Zone(MonoTime now, double rate) : queue(now, rate) {}

  ZoneState state = ZoneState::initial;
  bool has_state = false;  // false while no node of the zone counts
  ZoneCount count;
  std::size_t members = 0;      // nodes in it, counted or not
  std::uint64_t evictions = 0;  // nodes tainted or evicted since the zone exists
  pacing::RateQueue queue;
};

class Zones {
 public:
  explicit Zones(const Options& options) : options_(options) {}

  // Adds a member to the zone and returns it. A new zone starts at the normal rate with a full
  // bucket. The reference stays valid while the zone has members.
  [[nodiscard]] Zone& join(MonoTime now, const std::string& key);
  void leave(Zone& zone) { --zone.members; }

  // How a pass changed the state of the cluster as a whole.
  enum class ClusterChange : std::uint8_t { none, all_went_down, some_came_back };

  // Derives states and rates from the counts. Erases zones without members.
  ClusterChange end_pass(MonoTime now);

  // When a queue may have a node to handle; MonoTime::max() if all are empty or stopped.
  [[nodiscard]] MonoTime next() const;

  [[nodiscard]] const std::map<std::string, Zone>& all() const { return zones_; }
  [[nodiscard]] std::map<std::string, Zone>& all() { return zones_; }

 private:
  void set_states(MonoTime now, bool every_zone);

  Options options_;
  std::map<std::string, Zone> zones_;
};

}  // namespace holdfast::sync::lifecycle
