// Turns the notes of the scheduler's machine about its decisions into metrics and log lines.
//
// Threading: the loop's thread only.

#pragma once

#include "agent/cloud/scheduler/scheduler_metrics.h"
#include "agent/cloud/scheduler/scheduler_performer.h"

namespace holdfast::agent {

class SchedulerObserver final : public SchedulerRunner::Observer {
 public:
  // All parameters must outlive this.
  SchedulerObserver(sync::schedule::Scheduler& machine, SchedulerMetrics& metrics,
                    const Clock& clock)
      : machine_(machine), metrics_(metrics), clock_(clock) {}

  void planned(const sync::schedule::Effect& /*effect*/) override {}
  void settled(const sync::schedule::Effect& /*effect*/,
               const sync::schedule::Outcome& /*outcome*/) override {}
  void stepped(const sync::control::Now& began) override;

 private:
  void take(const sync::schedule::SearchEnded& note);
  void take(const sync::schedule::AttemptEnded& note);
  void take(const sync::schedule::PodBound& note);
  void take(const sync::schedule::PodNotBound& note);
  void take(const sync::schedule::PodNotPlaced& note);
  void take(const sync::schedule::PreemptionTried& note);
  void take(const sync::schedule::PreparationBegun& note);
  void take(const sync::schedule::PreparationEnded& note);
  void take(const sync::schedule::ExtenderIgnored& note);
  void take(const sync::schedule::StatusNotWritten& note);

  sync::schedule::Scheduler& machine_;
  SchedulerMetrics& metrics_;
  const Clock& clock_;
};

}  // namespace holdfast::agent
