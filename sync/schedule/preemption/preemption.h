// May this pod make room for itself, where, and at whose cost? DefaultPreemption's steps, from the
// verdicts of a failed attempt to one node with its victims. preparation.h then acts on it.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "platform/random.h"
#include "sync/schedule/attempt.h"
#include "sync/schedule/preemption/dry_run.h"
#include "sync/schedule/preemption/extenders.h"

namespace holdfast::sync::schedule {

// Why the pod may not preempt now, or "". `nominated` is what the failed attempt says of the node
// that the pod is nominated to.
[[nodiscard]] std::string ineligible(const Cluster& cluster, const PodView& pod,
                                     const FitStatus& nominated);

// Whether the scheduler has asked it to leave already, and it is on its way.
[[nodiscard]] bool leaves_for_another(const Pod& pod);

// The nodes where taking pods away might help, in the order of a scan.
[[nodiscard]] Nodes worth_trying(const Cluster& cluster, const NodeFitStatuses& verdicts);

struct PreemptionOptions {
  CandidateLimits limits;
  std::vector<ExtenderSettings> extenders;
  // Runs the pieces of a dry run over at least `parallel_from` nodes; empty: they are not cut.
  ForEach for_each = {};
  std::size_t parallel_from = 256;
};

struct PreemptionOutcome {
  FitStatus verdict;                // its message begins with "preemption: "
  Nomination nomination;            // nothing: it stays as it is
  std::optional<Candidate> chosen;  // set when the verdict is ok
};

// Everything that the steps look at; borrowed for one call.
struct PreemptionView {
  const Cluster& cluster;
  const Nominator& nominator;
  const Budgets& budgets;
  const std::vector<Plugin>& plugins;
};

class Preemption {
 public:
  Preemption(PodRef pod, PreemptionOptions options)
      : pod_(std::move(pod)), options_(std::move(options)) {}

  // Goes as far as it can without an extender. `now` stands for the start of pods that have not
  // started. Dry runs cost O(nodes tried * pods * filters).
  void start(const PreemptionView& view, const NodeFitStatuses& verdicts, WallTime now,
             Random& random);

  // The extender to ask now, about candidates(); nullptr when none is.
  [[nodiscard]] const ExtenderSettings* ask() const { return outcome_ ? nullptr : round_.next(); }
  void answer(const Cluster& cluster, const Result<ExtenderAnswer>& answer, WallTime now);

  [[nodiscard]] const PodRef& pod() const { return pod_; }
  [[nodiscard]] const std::vector<Candidate>& candidates() const { return round_.candidates(); }
  [[nodiscard]] const std::vector<std::string>& ignored() const { return round_.ignored(); }
  // Set once it is over.
  [[nodiscard]] const std::optional<PreemptionOutcome>& outcome() const { return outcome_; }

 private:
  [[nodiscard]] DryRun try_out(const PreemptionView& view, const Chain& chain, const Nodes& nodes,
                               WallTime now, std::size_t offset) const;
  void finish(Code code, const std::string& message, Nomination nomination = std::nullopt);
  void choose_node(WallTime now);

  PodRef pod_;
  PreemptionOptions options_;
  ExtenderRound round_;
  std::optional<PreemptionOutcome> outcome_;
};

// Such a message as an outcome has it.
[[nodiscard]] FitStatus preemption_verdict(Code code, const std::string& message);

}  // namespace holdfast::sync::schedule
