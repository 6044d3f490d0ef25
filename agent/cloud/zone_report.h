// Reports in the log and as metrics when a zone changes its state, and when the whole cluster is
// fully disrupted: these states decide how fast pods are evicted, and whether any is.
//
// Threading: the loop's thread only.

#pragma once

#include <map>
#include <string>

#include "platform/metrics.h"
#include "sync/lifecycle/zones.h"

namespace holdfast::agent {

class ZoneReport {
 public:
  // To be called after each pass over all nodes.
  void compare(const sync::lifecycle::Zones& zones, Metrics& metrics);

 private:
  void tell(const std::string& key, const sync::lifecycle::Zone& zone, Metrics& metrics);

  std::map<std::string, sync::lifecycle::ZoneState> states_;  // by zone, of those with a state
  bool all_disrupted_ = false;
};

// A zone's key as people read it: "region/zone"; "-" for nodes without either label.
[[nodiscard]] std::string shown_zone(const std::string& key);

}  // namespace holdfast::agent
