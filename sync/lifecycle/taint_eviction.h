// The taint eviction controller as a machine: pods that do not tolerate their node's NoExecute
// taints, or only for a while, are deleted in time. nlc.md section 14.
//
// A pod's clock starts when we first see that it has to go; it is stopped when its node recovers.
// A running clock is never changed, as upstream. A deletion that fails is tried five times at once
// and then again and again, ever more slowly, until it succeeds or is not wanted any more.
//
// With EvictionMode::evict the eviction API is asked until it agrees or the deadline has passed;
// then the pod is deleted. The API server marks the pods that it evicts itself, so DisruptionTarget
// is written only before a deletion. Pods of a node that is out of service are deleted at once:
// nothing of theirs runs that a budget could protect.

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

  // A node is there or changed; `pods` are all those on it.
  [[nodiscard]] Effects set_node(MonoTime now, WallTime wall, const NodeFacts& node,
                                 const Pods& pods);
  // It is gone. Running clocks go on.
  void remove_node(const std::string& node);

  // Whether the two own taints of that node evict nobody for now.
  [[nodiscard]] Effects withhold(MonoTime now, WallTime wall, const std::string& node, bool on,
                                 const Pods& pods);

  // A pod is there or changed; `before` is what it was, if it was.
  [[nodiscard]] Effects set_pod(MonoTime now, WallTime wall, const PodFacts* before,
                                const PodFacts& pod);
  [[nodiscard]] Effects remove_pod(const PodFacts& pod);

  // Evicts those whose time has come.
  [[nodiscard]] Effects fire(MonoTime now, WallTime wall);

  // How MarkPodDisrupted, EvictPod or DeletePod went.
  [[nodiscard]] Effects settle(MonoTime now, const Effect& effect, const Outcome& outcome);

  // When fire() has something to do; MonoTime::max() when it has not.
  [[nodiscard]] MonoTime next() const;

  // By PodFacts::key(); nullptr when no clock runs.
  [[nodiscard]] const pacing::TimedQueue::Entry* scheduled(const std::string& pod) const;
  // Nodes with NoExecute taints, sorted.
  [[nodiscard]] std::vector<std::string> tainted_nodes() const;
  [[nodiscard]] std::size_t clocks() const { return timers_.size(); }

 private:
  struct NodeTaints {
    bool seen = false;  // set_node() was called for it
    std::vector<Taint> all;
    std::vector<Taint> effective;  // without the withheld ones
    bool withheld = false;
  };
  struct Eviction {
    PodRef pod;
    bool marked = false;  // DisruptionTarget is written, or not wanted
    bool asks = false;    // for an eviction, before it deletes
    int failures = 0;
    int refusals = 0;                     // by a disruption budget
    MonoTime retry = MonoTime::max();     // max: its effect is under way
    MonoTime deadline = MonoTime::max();  // from when on it deletes
  };

  void refresh(MonoTime now, WallTime wall, NodeTaints& node, const Pods& pods, Effects& effects);
  void evaluate(MonoTime now, WallTime wall, const PodFacts& pod, const std::vector<Taint>& taints,
                Effects& effects);
  void cancel(const PodFacts& pod, Effects& effects);
  [[nodiscard]] Eviction eviction_of(const PodFacts& pod, const std::vector<Taint>& taints) const;
  void start(MonoTime now, WallTime wall, Eviction eviction, Effects& effects);
  void act(MonoTime now, WallTime wall, const Eviction& eviction, Effects& effects) const;
  void finish(const std::string& key);
  void drop(const std::string& key);
  void retry_later(MonoTime now, Errc error, const std::string& key, Eviction& eviction);

  Options options_;
  std::unordered_map<std::string, NodeTaints> nodes_;
  pacing::TimedQueue timers_;
  std::unordered_map<std::string, Eviction> evictions_;  // timed or under way
  std::set<std::pair<MonoTime, std::string>> retries_;
  std::unordered_set<std::string> lingering_;  // names of finished evictions, to 1.32
};

}  // namespace holdfast::sync::lifecycle
