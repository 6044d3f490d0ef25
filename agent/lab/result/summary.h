// What a result amounts to: totals by site and by node, which of them are interesting, and the
// sentence that answers the scenario's question. Pure functions.

#pragma once

#include <string>
#include <vector>

#include "agent/lab/result/result.h"

namespace holdfast::agent::lab {

// From this many nodes on, results are shown by site.
inline constexpr std::size_t nodes_by_site = 20;

// Totals of a site or of a node. Of a site, the durations are those of its worst node.
struct Tally {
  std::string name;
  std::string site;  // of a node: its site
  int nodes = 0;
  int pods = 0;
  int evicted = 0;
  int restarted = 0;
  int nodes_cut = 0;        // link cut or power off
  int nodes_not_ready = 0;  // Ready was False or Unknown
  int nodes_tainted = 0;    // with a NoExecute taint
  int nodes_withheld = 0;   // their evictions were withheld
  Duration cut{};
  Duration not_ready{};
  Duration tainted{};
  Duration withheld{};
  bool operator==(const Tally&) const = default;
};

struct Tallies {
  std::vector<Tally> sites;  // in the order of their first nodes
  std::vector<Tally> nodes;  // as in the result
};

// Pods that never had a node count for the site that they name, and for none if that is unknown.
[[nodiscard]] Tallies tally(const RunResult& result);

// Sites or nodes to which more happened come first; the order of equal ones is kept.
[[nodiscard]] std::vector<Tally> most_affected_first(std::vector<Tally> tallies);

// Something happened that a reader may want to look at.
[[nodiscard]] bool is_affected(const Tally& tally);

// One sentence: "a: 0 restarts; b: 2 evicted". A violation and expectations that are not met come
// first. Of many sites the worst are named.
[[nodiscard]] std::string headline(const RunResult& result);

// "simulated, seed 1, 2h, 6 nodes in 2 sites, 12 pods, 48210 events".
[[nodiscard]] std::string circumstances(const RunResult& result);

// Where a series is highest and how much that is; 0 at 0 for an empty series.
struct Peak {
  Duration at{};
  double value = 0;
};
[[nodiscard]] Peak peak_of(const Series& series);

// The interval in which to count what happens in a run of this length: so short that a peak of a
// few seconds shows, and with at most 600 values for runs of up to ten hours.
[[nodiscard]] Duration counting_interval(Duration length);

// At most `count` values: each is the highest of consecutive values.
[[nodiscard]] Series shortened(const Series& series, std::size_t count);

}  // namespace holdfast::agent::lab
