// Everything that a scheduler knows: nodes, running, waiting and assumed pods, nominations and
// PodDisruptionBudgets. The owner passes the changes from its watches; the state keeps the Cluster,
// the Queue and the Nominator consistent with each other.
//
// A pod for which a node was found is assumed to run there at once, so that the next attempt counts
// it; later the watch confirms it. Not thread-safe; must not change while an attempt uses it.

#pragma once

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "sync/schedule/cluster.h"
#include "sync/schedule/nominator.h"
#include "sync/schedule/preemption/budgets.h"
#include "sync/schedule/queue/queue.h"
#include "sync/schedule/volumes/match.h"

namespace holdfast::sync::schedule {

struct ClusterStateOptions {
  std::string scheduler;  // pods with this spec.schedulerName are queued
  QueueOptions queue;
  FitOptions fit = {};  // those of the profile
  // How long a pod stays assumed after its binding was written if the watch does not confirm it.
  // The value is that of upstream's former durationToExpireAssumedPod.
  Duration assumed_max = std::chrono::minutes(15);
};

class ClusterState {
 public:
  ClusterState(ClusterStateOptions options, MonoTime now);
  ClusterState(const ClusterState&) = delete;
  ClusterState& operator=(const ClusterState&) = delete;
  ~ClusterState() = default;

  // Changes, as a watch delivers them.
  void set(MonoTime now, Node node);
  void set(MonoTime now, Pod pod);
  void set(const PodDisruptionBudget& budget);
  void set(MonoTime now, const PersistentVolumeClaim& claim);
  void set(MonoTime now, const PersistentVolume& volume);
  void set(MonoTime now, const StorageClass& storage_class);
  void set(MonoTime now, const CsiNode& node);
  void remove_node(MonoTime now, const std::string& name);
  void remove_pod(MonoTime now, const std::string& namespace_name, const std::string& name);
  void remove_budget(const std::string& namespace_name, const std::string& name);

  // Why claims, volumes, classes or CSI nodes are not all known; "" if they are. Pods with claims
  // wait until then.
  void set_storage_missing(MonoTime now, const std::string& why);

  // Counts the pod as running on the node. Returns the pod with that node filled in.
  PodRef assume(MonoTime now, const PodRef& pod, const std::string& node);
  [[nodiscard]] bool is_assumed(const std::string& uid) const { return assumed_.contains(uid); }
  // The binding of an assumed pod was written: starts the time after which it expires.
  void bound(MonoTime now, const std::string& uid);
  // The binding of an assumed pod failed: its room is free again, which may help other pods. The
  // pod's own place in the queue does not change.
  void forget(MonoTime now, const std::string& uid);

  // Takes back what the plan promised to the pod's claims.
  void release_volumes(MonoTime now, const VolumePlan& plan);

  // Shuts or opens the pod's preemption gate. While it is shut, the pod stays out of the active
  // queue.
  void gate(const std::string& uid, bool shut);

  // The pod as the API server has it, or nullptr if it does not exist.
  [[nodiscard]] PodRef live(const std::string& uid) const;

  // Moves pods in the queue that are due, and expires assumed pods. To be called at deadline().
  void tick(MonoTime now);
  [[nodiscard]] MonoTime deadline() const;

  // The owner sets and removes namespaces here directly, and removes objects of the storage,
  // because nothing else depends on that.
  [[nodiscard]] Cluster& cluster() { return cluster_; }
  [[nodiscard]] const Cluster& cluster() const { return cluster_; }
  [[nodiscard]] Queue& queue() { return queue_; }
  [[nodiscard]] const Queue& queue() const { return queue_; }
  [[nodiscard]] Nominator& nominator() { return nominator_; }
  [[nodiscard]] const Budgets& budgets();
  [[nodiscard]] std::size_t assumed() const { return assumed_.size(); }

  // For tests: the indexes agree, and so does the queue.
  void check_invariants() const;

 private:
  using Name = std::pair<std::string, std::string>;  // namespace and name
  struct Assumed {
    PodRef pod;
    MonoTime expires = MonoTime::max();
  };

  [[nodiscard]] bool concerns_us(const Pod& pod) const;
  void set_running(MonoTime now, const PodRef& before, const PodRef& pod);
  void set_waiting(MonoTime now, const PodRef& before, const PodRef& pod);
  void drop(MonoTime now, const PodRef& pod);
  // The node of `before` is now as `after`, or gone (null). Pods that are nominated to it and no
  // longer fit there are tried again: the room that they wait for may never come.
  void retry_nominated(MonoTime now, const Node& before, const Node* after);
  // Ends the nomination of a pod that is gone, or that has this node.
  void end_nomination(MonoTime now, const PodRef& pod, const std::string& node);
  void expire(MonoTime now);

  ClusterStateOptions options_;
  Cluster cluster_;
  PluginHints hints_;
  std::set<std::string> preempting_;  // uids of the pods whose gate is shut
  Queue queue_;
  Nominator nominator_;
  std::map<std::string, std::shared_ptr<const Node>, std::less<>> nodes_;
  std::map<Name, PodRef> pods_;                       // as the API server has them
  std::unordered_map<std::string, Name> names_;       // by uid
  std::unordered_map<std::string, Assumed> assumed_;  // by uid
  MonoTime next_expiry_ = MonoTime::max();            // a lower bound of their expiry times
  std::map<Name, PodDisruptionBudget> budget_objects_;
  Budgets budgets_;
  bool budgets_stale_ = false;
};

}  // namespace holdfast::sync::schedule
