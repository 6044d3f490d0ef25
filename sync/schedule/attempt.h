// One attempt to find a node for a pod: filters, then scores, then a random choice among the nodes
// with the best score. A node that is out of contact (contact.h) is chosen only if no other fits.

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
  int percentage_of_nodes = 0;  // stop after this share is feasible; 0: depends on cluster size
  ScoreWeights weights;
};

// The result of an attempt. Either `node` is set, or `fit_status` is not ok.
struct Attempt {
  const NodeView* node = nullptr;  // borrowed from the cluster
  // unschedulable: no node fits; `diagnosis` has the reasons, and the pod may preempt.
  // unresolvable: the cluster has no nodes. error: a filter or an extender failed.
  FitStatus fit_status;
  std::optional<Diagnosis> diagnosis;
  std::size_t evaluated = 0;  // nodes that were checked
  std::size_t feasible = 0;   // nodes that fit
};

// The first half of an attempt: which nodes fit. Before the second half, extenders may remove some
// of them: remove_rejected_nodes() in extender_filter.h.
struct FeasibleNodes {
  FitStatus fit_status;   // not ok: the attempt fails without a diagnosis of nodes
  Nodes feasible;         // borrowed from the cluster
  bool promised = false;  // `feasible` is only the nominated node; no other node was tried
  Diagnosis diagnosis;    // of the nodes that do not fit
  std::size_t evaluated = 0;
};

// Finds nodes for one pod after the other. It keeps only the position where the next scan begins,
// so that all nodes are considered equally often. Not thread-safe.
class Finder {
 public:
  explicit Finder(std::vector<Plugin> plugins, const AttemptOptions& options = {})
      : plugins_(std::move(plugins)), options_(options) {}

  // Tries the pod's nominated node alone first. O(nodes that are checked).
  [[nodiscard]] Attempt find(const Cluster& cluster, const Nominator& nominator, const PodView& pod,
                             Random& random);

  // feasible_nodes() and decide() are find() in two halves. Without `try_promised` the nominated
  // node is not tried first.
  [[nodiscard]] FeasibleNodes feasible_nodes(const Cluster& cluster, const Nominator& nominator,
                                             const PodView& pod, bool try_promised = true);
  // `extra` has a score to add for each feasible node, or is empty.
  [[nodiscard]] Attempt decide(FeasibleNodes feasible_nodes, const PodView& pod,
                               const Scores& extra, Random& random) const;

  [[nodiscard]] const std::vector<Plugin>& plugins() const { return plugins_; }

 private:
  struct Scan {
    Nodes feasible;
    NodeFitStatuses fit_statuses;
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
