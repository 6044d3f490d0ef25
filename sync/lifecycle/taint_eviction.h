// The taint eviction controller as a machine: deletes pods that do not tolerate their node's
// NoExecute taints, or no longer tolerate them. Upstream: pkg/controller/tainteviction.
//
// A pod's timer starts when the controller first sees that the pod must go, and stops when its node
// recovers. As upstream, a running timer is never shortened. If the taint that started it is gone
// or withheld, the pod gets the time for which it tolerates the others, each from when it was first
// seen; not-ready and unreachable count as one, because one replaces the other. Upstream leaves
// such a timer alone and deletes a pod that tolerates all that is left (kubernetes issue 90794);
// see Options::timers_outlive_taints. A deletion that fails is tried five times, 10 ms apart, and
// then with growing pauses of up to 5 minutes until it succeeds or is cancelled.
//
// With EvictionMode::evict the pod is evicted through the eviction API until that succeeds or the
// deadline has passed; then it is deleted. The API server sets DisruptionTarget on the pods that it
// evicts, so the controller writes it only before a deletion. Pods of an out-of-service node are
// deleted at once, because nothing runs there that a budget could protect.
//
// Pods that have ended (Succeeded, Failed) are evicted as upstream does, but not with
// EvictionMode::evict, where an eviction is a service to the pod, nor from a withheld node.

#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "sync/lifecycle/effects.h"
#include "sync/lifecycle/facts.h"
#include "sync/lifecycle/options.h"
#include "sync/pacing/timed_queue.h"

namespace holdfast::sync::lifecycle {

class TaintEviction {
 public:
  using Pods = std::vector<const PodFacts*>;

  explicit TaintEviction(const Options& options) : options_(options) {}

  // Adds or replaces a node. `pods` are all pods on it.
  [[nodiscard]] Effects set_node(MonoTime now, WallTime wall, const NodeFacts& node,
                                 const Pods& pods);
  // Running timers of the node's pods continue.
  void remove_node(const std::string& node);

  // Sets whether the node's not-ready and unreachable taints are ignored. Has no effect on a node
  // that set_node() has not added.
  [[nodiscard]] Effects withhold(MonoTime now, WallTime wall, const std::string& node, bool on,
                                 const Pods& pods);

  // Adds or replaces a pod. `before` is its previous state, or nullptr for a new pod.
  [[nodiscard]] Effects set_pod(MonoTime now, WallTime wall, const PodFacts* before,
                                const PodFacts& pod);
  [[nodiscard]] Effects remove_pod(const PodFacts& pod);

  // Starts the evictions whose timers have expired, and the retries that are due.
  [[nodiscard]] Effects fire(MonoTime now, WallTime wall);

  // Reports the outcome of MarkPodDisrupted, EvictPod or DeletePod; ignores other effects.
  [[nodiscard]] Effects settle(MonoTime now, const Effect& effect, const Outcome& outcome);

  // When to call fire() next; MonoTime::max() if there is nothing to do.
  [[nodiscard]] MonoTime next() const;

  // The timer of a pod, by PodFacts::key(); nullptr if none runs. Borrowed until the next change.
  [[nodiscard]] const pacing::TimedQueue::Entry* scheduled(const std::string& pod) const;
  // The names of nodes with NoExecute taints that are not withheld, sorted.
  [[nodiscard]] std::vector<std::string> tainted_nodes() const;
  // The number of running timers.
  [[nodiscard]] std::size_t running_timers() const { return timers_.size(); }

  // Whether the pod's node is withheld and no eviction of the pod is under way: a deletion that is
  // still to be sent was decided before.
  [[nodiscard]] bool spares(const PodFacts& pod) const;

  // For tests: every timer and every retry belongs to an eviction, and no pod is evicted because of
  // withheld taints.
  void check_invariants() const;

 private:
  struct NodeTaints {
    bool seen = false;  // set_node() was called for it
    std::vector<Taint> all;
    std::vector<Taint> effective;  // without the withheld ones
    std::vector<MonoTime> since;   // when each of `effective` was first seen
    bool withheld = false;
  };
  struct Eviction {
    PodRef pod;
    std::string node;
    MonoTime began;         // when the pod's timer was started, or the eviction if it had none
    bool is_going = false;  // somebody has deleted it already, perhaps an earlier leader
    bool marked = false;    // DisruptionTarget is written, or is not to be written
    bool marking = false;   // MarkPodDisrupted was requested; its outcome is not known yet
    bool asks = false;      // use the eviction API until `deadline`
    int failures = 0;
    int refusals = 0;                     // by a PodDisruptionBudget
    MonoTime retry = MonoTime::max();     // max: the timer runs, or the effect is in flight
    MonoTime deadline = MonoTime::max();  // from then on the pod is deleted
  };

  void refresh(MonoTime now, WallTime wall, NodeTaints& node, const Pods& pods, Effects& effects);
  // Gives a pod that is to go the time for which it tolerates the taints that are left.
  void postpone(MonoTime now, WallTime wall, const PodFacts& pod, const NodeTaints& node,
                Effects& effects);
  // When the pod must go because of these taints; nothing if it tolerates all for ever, or one of
  // them not at all.
  [[nodiscard]] std::optional<MonoTime> due(const PodFacts& pod, const NodeTaints& node,
                                            MonoTime began) const;
  void evaluate(MonoTime now, WallTime wall, const PodFacts& pod, const std::vector<Taint>& taints,
                Effects& effects);
  // Whether the pod stays because it has ended. Upstream evicts such pods, too.
  [[nodiscard]] bool keeps(const PodFacts& pod) const;
  void cancel(const PodFacts& pod, Effects& effects);
  // The pod is not evicted now. If it has the mark of an eviction all the same, takes it back.
  void withdraw_mark(WallTime wall, const PodFacts& pod, Effects& effects) const;
  [[nodiscard]] bool is_evicting(const PodFacts& pod) const;
  [[nodiscard]] Eviction eviction_of(MonoTime began, const PodFacts& pod,
                                     const std::vector<Taint>& taints) const;
  void start(MonoTime now, WallTime wall, Eviction eviction, Effects& effects);
  static void act(MonoTime now, WallTime wall, Eviction& eviction, Effects& effects);
  void finish(const std::string& key);
  void drop(const std::string& key);
  void retry_later(MonoTime now, Errc error, const std::string& key, Eviction& eviction);

  Options options_;
  std::unordered_map<std::string, NodeTaints> nodes_;
  pacing::TimedQueue timers_;
  std::unordered_map<std::string, Eviction> evictions_;  // by pod key; timed or in progress
  std::set<std::pair<MonoTime, std::string>> retries_;
  // By uid: MarkPodDisrupted was under way when the eviction was withdrawn.
  std::unordered_set<std::string> unwanted_marks_;
  std::unordered_set<std::string> lingering_;  // see Options::finished_evictions_linger
};

}  // namespace holdfast::sync::lifecycle
