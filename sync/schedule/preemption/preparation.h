// Makes room on the chosen node: victims are marked, deleted and told why; less important pods lose
// their promise of that node. Actions out, results in; it performs nothing.
//
// Synchronous: the attempt waits, and a failure is its failure. Asynchronous: the pod has its
// nomination at once and waits behind a gate until all but the last victim are gone; the deletion
// of the last one, which wakes it, is only sent when the gate is open again.

#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "sync/schedule/actions.h"
#include "sync/schedule/fit_status.h"
#include "sync/schedule/preemption/candidate.h"

namespace holdfast::sync::schedule {

struct PreparationOptions {
  bool async = true;
  // A victim that is on its way out already is left alone (since 1.34).
  bool skip_terminating = true;
  // A victim that is gone when it is to be marked is as good as deleted (since 1.36).
  bool tolerate_gone = true;
};

// How a request went.
struct Settled {
  enum class Way : std::uint8_t { done, gone, failed };  // gone: 404, or another uid
  Way way = Way::done;
  std::string error;  // of gone and failed
};

class Preparation {
 public:
  // An action; those with an id want settle().
  struct Step {
    std::uint64_t id = 0;  // 0: nothing to settle
    Action action;

    bool operator==(const Step&) const = default;
  };
  using Steps = std::vector<Step>;

  // `waiting` are the uids of pods that wait to be bound; `promised` the less important pods that
  // are nominated to the node: Nominator::below().
  Preparation(PodRef pod, Candidate candidate, std::vector<PodRef> promised,
              std::set<std::string> waiting, const PreparationOptions& options);

  [[nodiscard]] Steps start(WallTime now);
  [[nodiscard]] Steps settle(std::uint64_t id, const Settled& settled, WallTime now);

  [[nodiscard]] bool finished() const { return phase_ == Phase::finished; }
  // Of the attempt: asynchronously always ok. Only then is the pod nominated.
  [[nodiscard]] const FitStatus& verdict() const { return verdict_; }
  // The errors that changed nothing, one line each.
  [[nodiscard]] const std::vector<std::string>& errors() const { return errors_; }

 private:
  enum class Phase : std::uint8_t { idle, promises, victims, last_victim, finished };
  enum class Stage : std::uint8_t { waits, patching, deleting, over };
  struct Victim {
    PodRef pod;
    Stage stage = Stage::waits;
  };

  void enter(Phase phase, WallTime now, Steps& steps);
  void next_phase(WallTime now, Steps& steps);
  void begin(std::size_t index, WallTime now, Steps& steps);
  void erase(std::size_t index, Steps& steps);
  void record_event(const PodView& victim, Steps& steps) const;
  void failed(const std::string& error);
  void finish(Steps& steps);
  void ask(std::size_t index, Action action, Steps& steps);
  void settle_victim(std::size_t index, const Settled& settled, Steps& steps);

  PodRef pod_;
  std::string node_;
  std::vector<Victim> victims_;
  std::vector<PodRef> promised_;
  std::set<std::string> waiting_;
  PreparationOptions options_;
  Phase phase_ = Phase::idle;
  std::size_t asked_ = 0;    // requests of this phase that are not settled
  bool stopped_ = false;     // nothing new in this phase
  bool any_failed_ = false;  // in any
  bool any_left_ = false;    // a victim's leaving will be heard of
  std::vector<std::pair<std::uint64_t, std::size_t>> open_;  // id to victim
  std::uint64_t last_id_ = 0;
  FitStatus verdict_;
  std::vector<std::string> errors_;
};

// The gate of a pod whose victims are being asked to leave, as a queue's PreEnqueue. Without
// asynchronous preemption it never shuts.
[[nodiscard]] FitStatus preemption_gate(const PodView& pod, bool async,
                                        const std::set<std::string>& preempting);

}  // namespace holdfast::sync::schedule
