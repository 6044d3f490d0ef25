// Zones: to which one a node belongs, how disrupted it is, and at which rate nodes are evicted
// then.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "sync/lifecycle/options.h"
#include "sync/model/string_map.h"

namespace holdfast::sync::lifecycle {

enum class ZoneState : std::uint8_t { initial, normal, partial_disruption, full_disruption };

// "Normal", "PartialDisruption", ... as upstream prints them.
[[nodiscard]] std::string_view to_string(ZoneState state);

// Region and zone as one key: "region1:\0:zone1" with a NUL between the colons; empty if the node
// has neither. A beta label takes precedence over the stable one, even if its value is empty.
[[nodiscard]] std::string zone_key(const StringMap& labels);

// Whether the node is not counted in its zone. Its health and taints are handled like any other's.
[[nodiscard]] bool excluded_from_disruption(std::string_view name, const StringMap& labels,
                                            const Options& options);

// The counted nodes of one zone, by whether their Ready condition is True.
struct ZoneCount {
  std::size_t ready = 0;
  std::size_t unready = 0;

  [[nodiscard]] std::size_t all() const { return ready + unready; }
  bool operator==(const ZoneCount&) const = default;
};

[[nodiscard]] ZoneState zone_state(const ZoneCount& count, const Options& options);

// Nodes per second that may be evicted from a zone of `size` nodes; 0 means none.
[[nodiscard]] double eviction_rate(ZoneState state, std::size_t size, const Options& options);

}  // namespace holdfast::sync::lifecycle
