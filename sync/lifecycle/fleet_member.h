// What the Fleet stores for one node. Only the Fleet's own sources include this.

#pragma once

#include <optional>
#include <string>

#include "sync/lifecycle/fleet.h"

namespace holdfast::sync::lifecycle {

// The progress of a direct eviction. A pod that is assigned to an evicted node is deleted at once.
enum class EvictionMark : std::uint8_t { none, queued, evicted };

struct Fleet::Member {
  pacing::Deadlines::Id id = 0;
  NodeFacts facts;
  HealthRecord record;
  Zone* zone = nullptr;        // null: only the node's lease was seen so far
  Zone* counted_in = nullptr;  // null: not counted, for example because it is excluded
  bool counted_ready = false;
  bool present = false;                      // the API server has it
  bool known = false;                        // a pass has registered it
  bool touched = false;                      // the next pass visits it
  bool marking_due = false;                  // its pods still have to be marked not ready
  bool withheld = false;                     // the last WithholdEvictions that was returned
  MonoTime pods_reported = MonoTime::max();  // since then one is Ready on an Unknown node
  EvictionMark mark = EvictionMark::none;

  bool writing = false;       // a status write is in flight
  int attempts = 0;           // attempts at that write
  ConditionFacts observed;    // Ready before that write
  int patches = 0;            // PatchTaints of cause `queued` in flight
  bool patch_failed = false;  // one of them failed
  bool taint_unseen = false;  // they are written, and `facts` do not have the taint yet
  std::string reported;       // the malformed autonomy duration for which an event was recorded
};

}  // namespace holdfast::sync::lifecycle
