// All zones: how many of their nodes are ready, how disrupted they are, and whose turn it is.
//
// Counts are kept as nodes change; once a pass they become states, and states become rates. When
// every zone is down nothing is evicted at all: then the fault is likely ours. nlc.md section 12.

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
  bool has_state = false;  // lost while no node of the zone counts
  ZoneCount count;
  std::size_t members = 0;      // nodes in it, counted or not
  std::uint64_t evictions = 0;  // nodes tainted or evicted since the start
  pacing::RateQueue queue;
};

class Zones {
 public:
  explicit Zones(const Options& options) : options_(options) {}

  // The zone, made when there is none yet: at the normal rate, with a full bucket. Its address
  // stays good as long as it has members.
  [[nodiscard]] Zone& join(MonoTime now, const std::string& key);
  void leave(Zone& zone) { --zone.members; }

  // What the pass changed for the cluster as a whole.
  enum class Turn : std::uint8_t { none, all_went_down, some_came_back };

  // Turns the counts into states and sets the rates. Forgets zones without members.
  Turn end_pass(MonoTime now);

  // When a queue may have something to do; MonoTime::max() when none has.
  [[nodiscard]] MonoTime next() const;

  [[nodiscard]] const std::map<std::string, Zone>& all() const { return zones_; }
  [[nodiscard]] std::map<std::string, Zone>& all() { return zones_; }

 private:
  void set_states(MonoTime now, bool every_zone);

  Options options_;
  std::map<std::string, Zone> zones_;
};

}  // namespace holdfast::sync::lifecycle
