// A zone: what a node belongs to, how broken the zone is, and how fast it may be evicted then.

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

// Region and zone in one key: "region1:\0:zone1" with a NUL between the colons; empty when a node
// has neither. The beta labels win, also when they are present but empty.
[[nodiscard]] std::string zone_key(const StringMap& labels);

// Whether a node does not count in its zone, though it is judged and tainted as any other.
[[nodiscard]] bool excluded_from_disruption(std::string_view name, const StringMap& labels,
                                            const Options& options);

// Nodes of one zone that count, by whether their Ready condition is True.
struct ZoneCount {
  std::size_t ready = 0;
  std::size_t unready = 0;

  [[nodiscard]] std::size_t all() const { return ready + unready; }
  bool operator==(const ZoneCount&) const = default;
};

[[nodiscard]] ZoneState zone_state(const ZoneCount& count, const Options& options);

// Nodes a second that may be evicted from a zone of `size`; 0 is stopped.
[[nodiscard]] double eviction_rate(ZoneState state, std::size_t size, const Options& options);

}  // namespace holdfast::sync::lifecycle
