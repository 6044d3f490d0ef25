// The scheduler as one machine: `step(now, input) -> {effects, deadline}`.
//
// Each TimePassed makes at most one attempt, so that changes from the watches are applied between
// two attempts. An attempt sees the cluster as it was when it began: while an extender is asked,
// changes are kept back until the attempt has ended. A pod for which a node was found is assumed to
// run there; its volumes and then the pod are bound concurrently with the next attempts. The status
// patches of one pod are sent one after the other; the newest wins, and the pod's binding waits for
// them. The Scheduler has no clock, does no I/O, and is not thread-safe.

#pragma once

#include <deque>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "platform/random.h"
#include "sync/control/step.h"
#include "sync/model/config.h"
#include "sync/pacing/monotonic.h"
#include "sync/schedule/cluster_state.h"
#include "sync/schedule/effects.h"
#include "sync/schedule/failure.h"
#include "sync/schedule/filters/plugins.h"
#include "sync/schedule/preemption/preemption.h"
#include "sync/schedule/preemption/preparation.h"
#include "sync/schedule/volumes/match.h"

namespace holdfast::sync::schedule {

// How one extender is used. An empty verb means that the extender is not asked for it.
struct ExtenderConfig {
  ExtenderSettings rules;
  std::string filter_verb;
  std::string prioritize_verb;
  std::string preempt_verb;
  std::string bind_verb;
  std::int64_t weight = 0;
};

// Why claims, volumes, storage classes and CSI nodes are not all known; "": they are. While they
// are not, and before the first such input, pods with claims are not bound.
struct StorageMissing {
  std::string why;
};

struct SchedulerOptions {
  std::string name;  // pods with this spec.schedulerName are scheduled
  QueueOptions queue;
  AttemptOptions attempt;
  PluginOptions plugins;
  CandidateLimits limits;
  std::vector<ExtenderConfig> extenders;
  // How long a pod that has a node waits for its volumes; as upstream's bindTimeoutSeconds.
  Duration volumes_max = std::chrono::minutes(10);
  ForEach for_each = {};  // runs the parts of large dry runs; empty: one after the other
};

class Scheduler {
 public:
  using Effect = schedule::Effect;
  using Outcome = schedule::Outcome;
  using Performed = control::Performed<Effect, Outcome>;
  using Input =
      std::variant<control::Changed<Node>, control::Removed<Node>, control::Changed<Pod>,
                   control::Removed<Pod>, control::Changed<PodDisruptionBudget>,
                   control::Removed<PodDisruptionBudget>, control::Changed<Namespace>,
                   control::Removed<Namespace>, control::Changed<PersistentVolumeClaim>,
                   control::Removed<PersistentVolumeClaim>, control::Changed<PersistentVolume>,
                   control::Removed<PersistentVolume>, control::Changed<StorageClass>,
                   control::Removed<StorageClass>, control::Changed<CsiNode>,
                   control::Removed<CsiNode>, StorageMissing, control::TimePassed, Performed>;

  Scheduler(SchedulerOptions options, MonoTime now, Random random);
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;
  ~Scheduler() = default;

  [[nodiscard]] control::Step<Effect> step(const control::Now& now, const Input& input);

  // Returns and clears the notes since the last call, oldest first, for metrics and logs.
  [[nodiscard]] std::vector<Note> take_notes() { return std::exchange(notes_, {}); }

  [[nodiscard]] const ClusterState& state() const { return state_; }

 private:
  struct Binding {
    Queue::Popped popped;
    std::string node;
    MonoTime began;
    bool by_extender = false;
  };
  // A pod that has a node and waits for its volumes. Then its binding begins.
  struct VolumeBinding {
    Binding binding;
    VolumePlan plan;
    MonoTime deadline;
    std::size_t writing = 0;  // requests under way
    std::string error;        // of a request
  };
  // The status patches of one pod, sent one after the other. `next` merges those that wait; `then`
  // is the binding to send after the last one.
  struct PendingPatches {
    std::optional<PatchPodStatus> next;
    std::optional<Binding> then;
  };
  // A preemption under way: deletes the victims and waits for their end.
  struct OngoingPreemption {
    Preparation machine;
    std::string preemptor;  // its uid
    MonoTime began;
  };
  using OngoingPreemptionAt = std::list<OngoingPreemption>::iterator;
  // The attempt under way; it is kept while an extender is asked.
  struct AttemptInProgress {
    enum class Phase : std::uint8_t { filtering, scoring, preempting };
    Queue::Popped popped;
    MonoTime began;
    Phase phase = Phase::filtering;
    std::size_t extender = 0;  // the next one to ask
    FeasibleNodes found;
    Scores extra;
    std::optional<FailedAttempt> failed;
    PodRef preemptor;
    std::optional<Preemption> preemption;
  };
  // The part of the scheduler to which the outcome of an effect is passed.
  struct OfAttempt {};
  struct OfPatches {
    std::string uid;
  };
  struct OfVolumes {
    std::string uid;  // of the pod
  };
  struct OfPreemption {
    OngoingPreemptionAt ongoing;
    std::uint64_t step;
  };
  using Owner = std::variant<OfAttempt, Binding, OfPatches, OfVolumes, OfPreemption>;

  // One function for each input.
  void take(const control::Changed<Node>& node);
  void take(const control::Removed<Node>& node);
  void take(const control::Changed<Pod>& pod);
  void take(const control::Removed<Pod>& pod);
  void take(const control::Changed<PodDisruptionBudget>& budget);
  void take(const control::Removed<PodDisruptionBudget>& budget);
  void take(const control::Changed<Namespace>& space);
  void take(const control::Removed<Namespace>& space);
  // Claims, volumes, storage classes and CSI nodes.
  template <class T>
  void take(const control::Changed<T>& object);
  void take(const control::Removed<PersistentVolumeClaim>& claim);
  void take(const control::Removed<PersistentVolume>& volume);
  void take(const control::Removed<StorageClass>& storage_class);
  void take(const control::Removed<CsiNode>& node);
  void take(const StorageMissing& missing);
  void take(const control::TimePassed& passed);
  void take(const Performed& performed);

  void change(std::function<void()> what);
  [[nodiscard]] MonoTime deadline() const;
  void emit(EffectBody what, Owner owner);
  void record(RecordEvent event);

  // scheduler_attempt.cpp
  void begin_attempt(Queue::Popped popped);
  void continue_attempt();
  [[nodiscard]] bool filter_by_extenders();
  [[nodiscard]] bool score_by_extenders();
  [[nodiscard]] bool preempt_by_extenders();
  void decide();
  void begin_preemption(Attempt attempt);
  void end_preemption();
  void fail_attempt(const Queue::Popped& popped, FailedAttempt failed, MonoTime began);
  void take_answer(const Outcome& outcome);
  void ask(std::size_t extender, const std::string& verb, std::string body);
  void end_attempt();

  // scheduler_volumes.cpp
  void begin_volumes(Binding binding, VolumePlan plan);
  void end_volume_request(const std::string& uid, const Outcome& outcome);
  // Continues with the pods whose volumes are bound, or can no longer be.
  void check_volumes();
  // Whether the pod does not need its node any more: it was deleted or is terminating.
  [[nodiscard]] bool is_ending(const std::string& uid) const;
  [[nodiscard]] Result<PlanState> progress_of_volumes(const VolumeBinding& waiting) const;
  void give_up_volumes(const VolumeBinding& waiting, const std::string& why);

  // scheduler_outcomes.cpp
  void begin_binding(Binding binding);
  void bind(Binding binding);
  void end_binding(const Binding& binding, const Status& bound);
  void patch(PatchPodStatus wanted);
  void end_patch(const std::string& uid, const Settled& settled);
  void prepare_candidate(const PodRef& pod, const Candidate& chosen);
  void take_steps(OngoingPreemptionAt ongoing, const Preparation::Steps& steps);
  void record_budget_problems(const PodView& pod);

  SchedulerOptions options_;
  Random random_;
  PreemptionOptions preemption_;
  ClusterState state_;
  Finder finder_;
  pacing::Monotonic monotonic_;
  control::Now now_{};  // of the current step
  std::vector<Effect> effects_;
  std::vector<Note> notes_;
  std::uint64_t last_id_ = 0;
  std::unordered_map<std::uint64_t, Owner> under_way_;        // by id of the effect
  std::unordered_map<std::string, PendingPatches> patching_;  // by uid
  std::map<std::string, VolumeBinding> volume_bindings_;      // by uid
  std::list<OngoingPreemption> ongoing_;
  std::optional<AttemptInProgress> attempt_;
  std::deque<std::function<void()>> deferred_;  // changes that arrived during an attempt
};

}  // namespace holdfast::sync::schedule
