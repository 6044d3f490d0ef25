// What the Fleet keeps of one node. Only the Fleet's own sources include this.

#pragma once

#include <optional>
#include <string>

#include "sync/lifecycle/fleet.h"

namespace holdfast::sync::lifecycle {

// Direct eviction: once evicted, pods that show up later go at once.
enum class EvictionMark : std::uint8_t { none, queued, evicted };

struct Fleet::Member {
  pacing::Deadlines::Id id = 0;
  NodeFacts facts;
  HealthRecord record;
  Zone* zone = nullptr;        // while the node is present or known
  Zone* counted_in = nullptr;  // null: it does not count
  bool counted_ready = false;
  bool present = false;      // the API server has it
  bool known = false;        // a pass has registered it
  bool touched = false;      // the next pass visits it
  bool marking_due = false;  // its pods still have to be marked not ready
  bool withheld = false;     // as last announced
  EvictionMark mark = EvictionMark::none;

  bool writing = false;     // a status write is under way
  int attempts = 0;         // of that write
  ConditionFacts observed;  // before that write
  int patches = 0;          // of taints from the queue, under way
  bool patch_failed = false;
  std::string reported;  // the malformed duration that an event was recorded for
};

}  // namespace holdfast::sync::lifecycle
