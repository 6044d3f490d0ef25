// Whom would have to leave? On one node, and over all nodes that are worth trying.

#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "sync/schedule/attempt.h"
#include "sync/schedule/preemption/budgets.h"
#include "sync/schedule/preemption/candidate.h"

namespace holdfast::sync::schedule {

// How many candidates are enough: DefaultPreemptionArgs.
struct CandidateLimits {
  int percentage = 10;  // of the nodes worth trying, 0 to 100
  int absolute = 100;   // but at least so many

  // Errors: invalid, naming the field.
  [[nodiscard]] Status check() const;
  [[nodiscard]] std::size_t of(std::size_t nodes) const;
};

// Finds the victims on one node after the other; keeps its buffers between them.
class VictimSearch {
 public:
  // Borrows all of it. `now` stands for the start of pods that have not started.
  VictimSearch(const Chain& chain, const Nominator& nominator, const Budgets& budgets, WallTime now)
      : chain_(chain), nominator_(nominator), budgets_(budgets), now_(now), trial_(chain) {}

  // Success with `out` filled in, or why not: unresolvable when nobody there is less important,
  // else what the filters say of the node without all of those. O(n log n) for n pods on the node,
  // and n runs of the filters.
  [[nodiscard]] FitStatus search(const NodeView& node, Candidate& out);
  // How often the filters were run.
  [[nodiscard]] std::size_t runs() const { return trial_.runs(); }

 private:
  [[nodiscard]] FitStatus remove_lower(const NodeView& node);
  // Puts back who need not leave; the others are victims.
  [[nodiscard]] FitStatus reprieve(std::span<const PodRef> promised,
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
  std::vector<Candidate> candidates;  // those that break no budget first
  NodeFitStatuses verdicts;           // of the nodes that are none
  std::vector<std::string> errors;    // the text of each that could not be judged
  std::size_t evaluated = 0;
};

// Tries nodes[offset], nodes[offset + 1], ... round the end until `limit` candidates are found, of
// which one breaks no budget. Neither kind is more than `limit`.
[[nodiscard]] DryRun dry_run(VictimSearch& search, const Nodes& nodes, std::size_t offset,
                             std::size_t limit);

// Calls work(i) once for each i below `count`, in any order and on any threads; returns when all
// calls have returned.
using ForEach =
    std::function<void(std::size_t count, const std::function<void(std::size_t)>& work)>;

// What a dry run looks at; borrowed for one call.
struct DryRunView {
  const Chain& chain;
  const Nominator& nominator;
  const Budgets& budgets;
  WallTime now;
};

// The same, and with the same result, with the work cut into pieces for `for_each`. It looks a
// little further ahead than it must.
[[nodiscard]] DryRun dry_run(const DryRunView& view, const Nodes& nodes, std::size_t offset,
                             std::size_t limit, const ForEach& for_each);

// One error as it is; several as "[a, b]".
[[nodiscard]] std::string aggregate(const std::vector<std::string>& errors);

}  // namespace holdfast::sync::schedule
