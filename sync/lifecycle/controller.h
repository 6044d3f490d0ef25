// The node lifecycle controller and the taint eviction controller as one machine:
// `step(now, input) -> {effects, deadline}`.
//
// Passes every change to the Fleet, to TaintEviction and to the smaller machines, and expands the
// Fleet's intents about all pods of a node into effects on single pods. The owner reports the
// outcome of every effect except events with Performed. Has no clock, does no I/O, and is not
// thread-safe.

#pragma once

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <variant>

#include "sync/control/step.h"
#include "sync/lifecycle/direct_eviction.h"
#include "sync/lifecycle/effects.h"
#include "sync/lifecycle/fleet.h"
#include "sync/lifecycle/options.h"
#include "sync/lifecycle/out_of_service.h"
#include "sync/lifecycle/pod_binder.h"
#include "sync/lifecycle/pod_index.h"
#include "sync/lifecycle/provider_check.h"
#include "sync/lifecycle/taint_eviction.h"
#include "sync/pacing/monotonic.h"

namespace holdfast::sync::lifecycle {

// Which controllers run: two of kube-controller-manager and, last, OpenYurt's.
struct EnabledControllers {
  bool node_lifecycle = true;
  bool taint_eviction = true;
  bool pod_binding = false;
};

// The API server was unreachable and answers again. Heartbeats that were missed in that time do
// not count, and nothing is evicted for one grace period and one monitor period: healthy nodes can
// report first, and a pass decides about all others together.
struct ContactRestored {};

using control::Changed;
using control::Now;
using control::Removed;
using control::TimePassed;
using Performed = control::Performed<Effect, Outcome>;

class Controller {
 public:
  using Effect = lifecycle::Effect;
  using Outcome = lifecycle::Outcome;
  // Leases must be those of the namespace kube-node-lease. The owner must deliver all objects once
  // before the first TimePassed; otherwise decisions about a node would ignore its pods.
  using Input = std::variant<Changed<Node>, Removed<Node>, Changed<Pod>, Removed<Pod>,
                             Changed<Lease>, Removed<Lease>, Changed<DaemonSet>, Removed<DaemonSet>,
                             TimePassed, ContactRestored, Performed>;

  explicit Controller(const Options& options, const EnabledControllers& enabled = {});

  [[nodiscard]] control::Step<Effect> step(const Now& now, const Input& input);

  // The number of passes over all nodes so far; there is one in each monitor period.
  [[nodiscard]] std::uint64_t passes() const { return passes_; }

  // Whether the pod that `effect` would mark, evict or delete is terminating already, for example
  // because an earlier leader has deleted it, or is spared because evictions from its node are
  // withheld by now. A forced deletion is never obsolete.
  [[nodiscard]] bool is_obsolete(const Effect& effect) const;

  [[nodiscard]] const Fleet& fleet() const { return fleet_; }
  [[nodiscard]] const TaintEviction& eviction() const { return eviction_; }
  [[nodiscard]] const PodIndex& pods() const { return pods_; }

  // For tests, after each step. O(cluster).
  void check_invariants() const;

 private:
  // The PatchTaints of a node that are in flight. Later changes of the node wait for them.
  struct Reconciling {
    int under_way = 0;
    bool again = false;  // the node changed meanwhile: reconcile it once more
  };
  // A direct eviction of a node's pods that is in progress.
  struct EvictionRun {
    EvictPods intent;
    DirectEviction eviction;
  };

  // One function for each input.
  void take(const Now& now, const Changed<Node>& node, Effects& effects);
  void take(const Now& now, const Removed<Node>& node, Effects& effects);
  void take(const Now& now, const Changed<Pod>& pod, Effects& effects);
  void take(const Now& now, const Removed<Pod>& pod, Effects& effects);
  void take(const Now& now, const Changed<Lease>& lease, Effects& effects);
  void take(const Now& now, const Removed<Lease>& lease, Effects& effects);
  void take(const Now& now, const Changed<DaemonSet>& set, Effects& effects);
  void take(const Now& now, const Removed<DaemonSet>& set, Effects& effects);
  void take(const Now& now, const TimePassed& passed, Effects& effects);
  void take(const Now& now, const ContactRestored& restored, Effects& effects);
  void take(const Now& now, const Performed& performed, Effects& effects);

  [[nodiscard]] bool has_passes() const { return enabled_.node_lifecycle || enabled_.pod_binding; }
  [[nodiscard]] MonoTime deadline() const;
  [[nodiscard]] Effects maintain(const Now& now);
  void assign_pod(const Now& now, const PodFacts& pod, Effects& effects);
  void bind_pods(const NodeFacts& node, Effects& effects);
  void bind_unconfirmed(Effects& effects);

  // controller_effects.cpp: turns intents into effects, and handles outcomes.
  void expand(const Now& now, Intents intents, Effects& effects);
  void evict_pods(const Now& now, const EvictPods& intent, const std::vector<const PodFacts*>& pods,
                  Effects& effects);
  void continue_run(const Now& now, const std::string& node, Effects& effects);
  void settle_others(const Now& now, const Performed& performed, Effects& effects);
  void settle_taints(const Now& now, const PatchTaints& patch, const Outcome& outcome,
                     Effects& effects);
  void reconcile(const Now& now, const NodeFacts& node, Effects& effects);
  void reconcile_watched(const Now& now, const NodeFacts& node, Effects& effects);
  [[nodiscard]] const std::string* evicting_node(const Effect& effect) const;
  [[nodiscard]] bool is_of_daemon_set(const PodFacts& pod) const;

  Options options_;
  EnabledControllers enabled_;
  pacing::Monotonic monotonic_;
  Fleet fleet_;
  TaintEviction eviction_;
  OutOfService out_of_service_;
  ProviderCheck provider_check_;
  PodBinder binder_;
  PodIndex pods_;
  std::map<std::string, DaemonSet> daemon_sets_;              // by namespace/name
  std::unordered_map<std::string, Reconciling> reconciling_;  // by node
  // By node: the resource version of our last write, until the watch delivers it.
  std::unordered_map<std::string, std::string> own_versions_;
  std::map<std::string, PatchLabels> label_retries_;  // by node
  std::set<std::string> taint_retries_;               // nodes
  std::map<std::string, EvictionRun> runs_;           // by node
  struct RunEffect {
    std::string node;
    Effect effect;
  };
  std::map<std::string, RunEffect> run_of_;  // effects of runs in flight, by key of their pod
  MonoTime next_pass_ = MonoTime::min();
  std::uint64_t passes_ = 0;
  std::optional<MonoTime> evictions_paused_until_;  // and on to the next pass
  MonoTime deadline_ = MonoTime::min();             // of the last step
};

}  // namespace holdfast::sync::lifecycle
