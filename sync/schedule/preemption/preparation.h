// Makes room on the chosen node: each victim gets the condition DisruptionTarget, is deleted and
// gets an event; pods of lower priority lose their nomination to that node. It returns actions and
// is given their results; it performs nothing itself.
//
// Synchronous: the attempt waits, and a failed request fails the attempt. Asynchronous: the pod is
// nominated at once and waits behind a gate while all victims but the last are deleted. The last
// deletion is sent after the gate is open, because its event is what wakes the pod.

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
  // Victims that are terminating already are skipped (since 1.34).
  bool skip_terminating = true;
  // A victim that no longer exists when its condition is written counts as deleted (since 1.36).
  bool tolerate_gone = true;
};

// The result of a request.
struct Settled {
  enum class Kind : std::uint8_t { done, gone, failed };  // gone: not found, or another uid
  Kind kind = Kind::done;
  std::string error;  // of gone and failed
};

class Preparation {
 public:
  // An action to perform. If it has an id, its result must be passed to settle().
  struct Step {
    std::uint64_t id = 0;  // 0: the result is ignored
    Action action;

    bool operator==(const Step&) const = default;
  };
  using Steps = std::vector<Step>;

  // `waiting` are the uids of pods that wait to be bound; `nominated` are the pods of lower
  // priority that are nominated to the node (Nominator::below()).
  Preparation(PodRef pod, Candidate candidate, std::vector<PodRef> nominated,
              std::set<std::string> waiting, const PreparationOptions& options);

  [[nodiscard]] Steps start(WallTime now);
  [[nodiscard]] Steps settle(std::uint64_t id, const Settled& settled, WallTime now);

  [[nodiscard]] bool finished() const { return phase_ == Phase::finished; }
  // The status for the attempt. The pod is nominated only if it is ok, which it always is in the
  // asynchronous mode.
  [[nodiscard]] const FitStatus& fit_status() const { return fit_status_; }
  // The errors of all failed requests, one line each.
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
  std::vector<PodRef> nominated_;
  std::set<std::string> waiting_;
  PreparationOptions options_;
  Phase phase_ = Phase::idle;
  std::size_t asked_ = 0;    // requests of this phase that are not settled
  bool stopped_ = false;     // a request failed: start no new one in this phase
  bool any_failed_ = false;  // a request of any phase failed
  bool any_left_ = false;    // a victim was deleted or rejected, so that an event will follow
  std::vector<std::pair<std::uint64_t, std::size_t>> open_;  // request id and index of the victim
  std::uint64_t last_id_ = 0;
  FitStatus fit_status_;
  std::vector<std::string> errors_;
};

// The Queue::Gate of preemption: rejects a pod in `preempting`, whose victims are being deleted.
// Without asynchronous preemption it rejects none.
[[nodiscard]] FitStatus preemption_gate(const PodView& pod, bool async,
                                        const std::set<std::string>& preempting);

}  // namespace holdfast::sync::schedule
