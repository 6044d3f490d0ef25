// One attempt to find a node for a pod: filters, then scores, then a draw among the best.
//
// Nodes that are out of contact are only taken when no other one would do.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "platform/random.h"
#include "sync/schedule/fit_error.h"
#include "sync/schedule/nominator.h"
#include "sync/schedule/scores.h"

namespace holdfast::sync::schedule {

struct AttemptOptions {
  int percentage_of_nodes = 0;  // of nodes to find feasible; 0: by size
  ScoreWeights weights;
};

// What came of it. `node` is set, or the verdict is not ok.
struct Attempt {
  const NodeView* node = nullptr;  // borrowed from the cluster
  // Unschedulable: a fit error, and `diagnosis` says more; the pod may preempt. Else no node is
  // there at all (unresolvable), or something of ours failed (error).
  FitStatus verdict;
  std::optional<Diagnosis> diagnosis;
  std::size_t evaluated = 0;  // nodes looked at
  std::size_t feasible = 0;
};

// The first half of an attempt: which nodes would do. Between the halves extenders may strike out
// some of them: strike_out() in extender_filter.h.
struct Survey {
  FitStatus verdict;      // not ok: no node can be found, and there is nothing to say of nodes
  Nodes feasible;         // borrowed from the cluster
  bool promised = false;  // `feasible` is the node that the pod is nominated to, tried alone
  Diagnosis diagnosis;    // of the nodes that would not do
  std::size_t evaluated = 0;
};

// Finds nodes, one pod after the other; remembers only where the next scan begins, so that all
// nodes get their turn.
class Finder {
 public:
  explicit Finder(std::vector<Plugin> plugins, const AttemptOptions& options = {})
      : plugins_(std::move(plugins)), options_(options) {}

  // The node that the pod is nominated to is tried alone first. O(nodes looked at).
  [[nodiscard]] Attempt find(const Cluster& cluster, const Nominator& nominator, const PodView& pod,
                             Random& random);

  // The same in two halves. Not `try_promised`: the promised node is one of all.
  [[nodiscard]] Survey survey(const Cluster& cluster, const Nominator& nominator,
                              const PodView& pod, bool try_promised = true);
  // `extra` are scores to be added, one for each feasible node; empty: none.
  [[nodiscard]] Attempt decide(Survey survey, const PodView& pod, const Scores& extra,
                               Random& random) const;

  [[nodiscard]] const std::vector<Plugin>& plugins() const { return plugins_; }

 private:
  struct Scan {
    Nodes feasible;
    NodeFitStatuses verdicts;
    std::size_t evaluated = 0;
    FitStatus failure;
  };

  [[nodiscard]] const NodeView* nominated(const Chain& chain, const Nominator& nominator) const;
  [[nodiscard]] Scan scan(const Chain& chain, const Nominator& nominator, const Nodes& nodes);

  std::vector<Plugin> plugins_;
  AttemptOptions options_;
  std::size_t next_start_ = 0;
};

}  // namespace holdfast::sync::schedule
