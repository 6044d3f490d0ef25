// Preemption: whether a pod may make room for itself, on which node, and which victims it needs.
// These are the steps of upstream's DefaultPreemption, from the statuses of a failed attempt to one
// node with its victims. Preparation (preparation.h) then deletes the victims.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "platform/random.h"
#include "sync/schedule/attempt.h"
#include "sync/schedule/preemption/dry_run.h"
#include "sync/schedule/preemption/extenders.h"

namespace holdfast::sync::schedule {

// Why the pod may not preempt now, or "". `nominated` is the failed attempt's status of the pod's
// nominated node.
[[nodiscard]] std::string ineligible(const Cluster& cluster, const PodView& pod,
                                     const FitStatus& nominated);

// Whether the pod is terminating because the scheduler has preempted it.
[[nodiscard]] bool leaves_for_another(const Pod& pod);

// The nodes on which removing pods might help (Code::unschedulable), in the order of a scan.
[[nodiscard]] Nodes worth_trying(const Cluster& cluster, const NodeFitStatuses& fit_statuses);

struct PreemptionOptions {
  CandidateLimits limits;
  std::vector<ExtenderSettings> extenders;
  // Runs the blocks of a dry run over at least `parallel_from` nodes. Empty: one thread does all.
  ForEach for_each = {};
  std::size_t parallel_from = 256;
};

struct PreemptionOutcome {
  FitStatus fit_status;             // its message begins with "preemption: "
  Nomination nomination;            // nullopt: unchanged
  std::optional<Candidate> chosen;  // set when the status is ok
};

// The input of the steps; borrowed for one call.
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

  // Performs all steps up to the first extender, or to the end. A pod without a start time counts
  // as started `now`. O(nodes tried * pods * filters).
  void start(const PreemptionView& view, const NodeFitStatuses& fit_statuses, WallTime now,
             Random& random);

  // The extender to ask now about candidates(); nullptr if there is none.
  [[nodiscard]] const ExtenderSettings* ask() const { return outcome_ ? nullptr : round_.next(); }
  void answer(const Cluster& cluster, const Result<ExtenderAnswer>& answer, WallTime now);

  [[nodiscard]] const PodRef& pod() const { return pod_; }
  [[nodiscard]] const std::vector<Candidate>& candidates() const { return round_.candidates(); }
  [[nodiscard]] const std::vector<std::string>& ignored() const { return round_.ignored(); }
  // Set when the preemption is decided.
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

// A status with the message as PreemptionOutcome has it: "preemption: ...".
[[nodiscard]] FitStatus preemption_fit_status(Code code, const std::string& message);

}  // namespace holdfast::sync::schedule
