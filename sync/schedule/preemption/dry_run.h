// The dry run of a preemption: which pods would have to be deleted, on one node, and on all nodes
// that are worth trying.

#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "sync/schedule/attempt.h"
#include "sync/schedule/preemption/budgets.h"
#include "sync/schedule/preemption/candidate.h"

namespace holdfast::sync::schedule {

// After how many candidates a dry run stops: upstream's DefaultPreemptionArgs.
struct CandidateLimits {
  int percentage = 10;  // of the nodes worth trying, 0 to 100
  int absolute = 100;   // at least this many

  // Errors: invalid, naming the field.
  [[nodiscard]] Status check() const;
  // The limit for `nodes` nodes that are worth trying.
  [[nodiscard]] std::size_t of(std::size_t nodes) const;
};

// Finds the victims on one node after the other, and reuses its buffers. Each thread needs its own.
class VictimSearch {
 public:
  // Borrows all arguments. A pod without a start time counts as started `now`.
  VictimSearch(const Chain& chain, const Nominator& nominator, const Budgets& budgets, WallTime now)
      : chain_(chain), nominator_(nominator), budgets_(budgets), now_(now), trial_(chain) {}

  // Success with `out` filled in. Otherwise unresolvable if no pod on the node has a lower
  // priority, or the filters' status of the node without all such pods. O(n log n) for n pods on
  // the node, and n runs of the filters.
  [[nodiscard]] FitStatus search(const NodeView& node, Candidate& out);
  // How often the filters were run so far.
  [[nodiscard]] std::size_t runs() const { return trial_.runs(); }

 private:
  [[nodiscard]] FitStatus remove_lower(const NodeView& node);
  // Adds the pods back one by one, and appends those that do not fit to `victims`.
  [[nodiscard]] FitStatus reprieve(std::span<const PodRef> nominated,
                                   const std::vector<PodRef>& pods, std::vector<PodRef>& victims);

  const Chain& chain_;
  const Nominator& nominator_;
  const Budgets& budgets_;
  WallTime now_;
  Trial trial_;
  std::vector<PodRef> lower_;
  Budgets::Split split_;
};

struct DryRun {
  std::vector<Candidate> candidates;  // those that violate no budget first
  NodeFitStatuses fit_statuses;       // of the nodes that are not candidates
  std::vector<std::string> errors;    // the messages of the nodes whose check failed
  std::size_t evaluated = 0;          // nodes tried
};

// Tries nodes[offset], nodes[offset + 1], ..., cyclically, until it has `limit` candidates of which
// at least one violates no budget. Returns at most `limit` candidates with and `limit` without
// violations.
[[nodiscard]] DryRun dry_run(VictimSearch& search, const Nodes& nodes, std::size_t offset,
                             std::size_t limit);

// Calls work(i) once for each i below `count`, in any order and on any threads; returns when all
// calls have returned.
using ForEach =
    std::function<void(std::size_t count, const std::function<void(std::size_t)>& work)>;

// The input of a dry run; borrowed for one call.
struct DryRunView {
  const Chain& chain;
  const Nominator& nominator;
  const Budgets& budgets;
  WallTime now;
};

// The same with the same result, but divided into blocks of nodes for `for_each`. It may check more
// nodes than needed, whose results it drops.
[[nodiscard]] DryRun dry_run(const DryRunView& view, const Nodes& nodes, std::size_t offset,
                             std::size_t limit, const ForEach& for_each);

// Joins the distinct errors: one as it is, several as "[a, b]".
[[nodiscard]] std::string aggregate(const std::vector<std::string>& errors);

}  // namespace holdfast::sync::schedule
