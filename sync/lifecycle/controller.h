// Node lifecycle and taint eviction joined: objects in, single writes out.
//
// Feeds the Fleet, the TaintEviction, the NoSchedule and label rules and the smaller machines with
// every change, and takes the larger wishes (MarkPods, EvictPods, WithholdEvictions) apart into one
// action for each pod; tick() and the inputs return all others. Each of them but events is to be
// settled once it was performed. No clock, no I/O.

#pragma once

#include <map>
#include <string>
#include <unordered_map>

#include "sync/lifecycle/actions.h"
#include "sync/lifecycle/direct_eviction.h"
#include "sync/lifecycle/fleet.h"
#include "sync/lifecycle/options.h"
#include "sync/lifecycle/out_of_service.h"
#include "sync/lifecycle/pod_binder.h"
#include "sync/lifecycle/pod_index.h"
#include "sync/lifecycle/provider_check.h"
#include "sync/lifecycle/taint_eviction.h"

namespace holdfast::sync::lifecycle {

// Which of upstream's controllers this one stands for; the last is OpenYurt's.
struct Parts {
  bool node_lifecycle = true;
  bool taint_eviction = true;
  bool pod_binding = false;
};

class Controller {
 public:
  explicit Controller(const Options& options, const Parts& parts = {});

  // Objects as a watch delivers them; an object may be set again unchanged.
  [[nodiscard]] Actions set_node(MonoTime now, WallTime wall, const Node& node);
  [[nodiscard]] Actions remove_node(const std::string& name);
  [[nodiscard]] Actions set_pod(MonoTime now, WallTime wall, const Pod& pod);
  [[nodiscard]] Actions remove_pod(const std::string& namespace_name, const std::string& name);
  // Of kube-node-lease only.
  void set_lease(MonoTime now, const Lease& lease);
  void remove_lease(const std::string& name);
  void set_daemon_set(const DaemonSet& set);
  void remove_daemon_set(const std::string& namespace_name, const std::string& name);

  // What is due by now. Not before all objects were delivered once: a node whose pods are not known
  // yet would be judged without them.
  [[nodiscard]] Actions tick(MonoTime now, WallTime wall);
  // When tick() has something to do.
  [[nodiscard]] MonoTime next() const;
  // How often tick() has judged all that was due, once each monitor period.
  [[nodiscard]] std::uint64_t passes() const { return passes_; }

  [[nodiscard]] Actions settle(MonoTime now, WallTime wall, const Action& action,
                               const Outcome& outcome);

  // Whether the pod that `action` would mark, evict or delete is going already: whoever led before
  // us has deleted it. A deletion by force is never moot.
  [[nodiscard]] bool is_moot(const Action& action) const;

  // We were cut off ourselves: nobody is judged by the silence of that time, and for one grace
  // nobody is evicted, so that who came back meanwhile can say so.
  void forgive(MonoTime now);

  [[nodiscard]] const Fleet& fleet() const { return fleet_; }
  [[nodiscard]] const TaintEviction& eviction() const { return eviction_; }
  [[nodiscard]] const PodIndex& pods() const { return pods_; }

 private:
  // One NoSchedule write for a node under way; what changes meanwhile waits for it.
  struct Reconciling {
    int under_way = 0;
    bool again = false;
  };

  [[nodiscard]] bool has_passes() const { return parts_.node_lifecycle || parts_.pod_binding; }
  [[nodiscard]] Actions take_apart(MonoTime now, WallTime wall, Actions actions);
  void evict_pods(MonoTime now, WallTime wall, const EvictPods& eviction,
                  const std::vector<const PodFacts*>& pods, Actions& actions);
  void go_on(MonoTime now, WallTime wall, const std::string& node, Actions& actions);
  void assign_pod(MonoTime now, WallTime wall, const PodFacts& pod, Actions& actions);
  void reconcile(WallTime wall, const NodeFacts& node, Actions& actions);
  void reconcile_watched(WallTime wall, const NodeFacts& node, Actions& actions);
  void settle_others(MonoTime now, WallTime wall, const Action& action, const Outcome& outcome,
                     Actions& actions);
  void settle_taints(MonoTime now, WallTime wall, const PatchTaints& patch, const Outcome& outcome,
                     Actions& actions);
  void pass(MonoTime now, WallTime wall, Actions& actions);
  void bind_pods(const NodeFacts& node, Actions& actions);
  void bind_doubtful(Actions& actions);
  [[nodiscard]] const std::string* evicting_node(const Action& action) const;
  [[nodiscard]] bool of_daemon_set(const PodFacts& pod) const;

  Options options_;
  Parts parts_;
  Fleet fleet_;
  TaintEviction eviction_;
  OutOfService out_of_service_;
  ProviderCheck provider_check_;
  PodBinder binder_;
  PodIndex pods_;
  std::map<std::string, DaemonSet> daemon_sets_;  // by namespace/name
  std::unordered_map<std::string, Reconciling> reconciling_;
  // By node: the resource version of our last NoSchedule write, until the watch delivers it.
  std::unordered_map<std::string, std::string> written_versions_;
  std::map<std::string, PatchLabels> label_retries_;
  std::set<std::string> taint_retries_;

  struct Run {
    EvictPods action;
    DirectEviction eviction;
  };
  std::map<std::string, Run> runs_;            // by node
  std::map<std::string, std::string> run_of_;  // pod whose action is under way, to its node
  MonoTime next_pass_ = MonoTime::min();
  std::uint64_t passes_ = 0;
  MonoTime spared_until_ = MonoTime::min();
};

}  // namespace holdfast::sync::lifecycle
