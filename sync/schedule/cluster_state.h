// All that a scheduler knows, kept in step: nodes, pods that run, that wait and that are taken to
// run, promises, budgets. What a watch brings goes in; the cluster, the queue and the nominator
// come out right.
//
// A pod for which a node was found is assumed to run there at once, so that the next attempt counts
// it; the watch confirms that. One thread; nothing may go in while an attempt looks at it.

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

namespace holdfast::sync::schedule {

struct BooksOptions {
  std::string scheduler;  // pods that wait are ours if they name it
  QueueOptions queue;
  // How long a pod stays assumed after its binding was written, if no watch confirms it: upstream's
  // durationToExpireAssumedPod of old.
  Duration assumed_max = std::chrono::minutes(15);
};

class ClusterState {
 public:
  ClusterState(BooksOptions options, MonoTime now);
  ClusterState(const ClusterState&) = delete;
  ClusterState& operator=(const ClusterState&) = delete;

  // Changes, as a watch delivers them.
  void set(MonoTime now, Node node);
  void set(MonoTime now, Pod pod);
  void set(const PodDisruptionBudget& budget);
  void set_namespace(std::string_view name, StringMap labels);
  void remove_node(std::string_view name);
  void remove_pod(MonoTime now, const std::string& namespace_name, const std::string& name);
  void remove_budget(const std::string& namespace_name, const std::string& name);
  void remove_namespace(std::string_view name);

  // The pod counts as running on the node from now on. Returns it with that node filled in.
  PodRef assume(const PodRef& pod, const std::string& node);
  [[nodiscard]] bool is_assumed(const std::string& uid) const { return assumed_.contains(uid); }
  // Its binding was written.
  void bound(MonoTime now, const std::string& uid);
  // Its binding failed: the room is free again, which others may want to know. It does not leave
  // the queue by this.
  void forget(MonoTime now, const std::string& uid);

  // While shut, the pod stays out of the active queue.
  void gate(const std::string& uid, bool shut);

  // The pod as the API server has it; nullptr when it is gone, or not known.
  [[nodiscard]] PodRef live(const std::string& uid) const;

  // Moves what is due; at the latest at deadline().
  void tick(MonoTime now);
  [[nodiscard]] MonoTime deadline() const;

  [[nodiscard]] Cluster& cluster() { return cluster_; }
  [[nodiscard]] const Cluster& cluster() const { return cluster_; }
  [[nodiscard]] Queue& queue() { return queue_; }
  [[nodiscard]] const Queue& queue() const { return queue_; }
  [[nodiscard]] Nominator& nominator() { return nominator_; }
  [[nodiscard]] const Budgets& budgets();
  [[nodiscard]] std::size_t assumed() const { return assumed_.size(); }

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
  void expire(MonoTime now);

  BooksOptions options_;
  Cluster cluster_;
  PluginHints hints_;
  std::set<std::string> preempting_;  // whose gate is shut
  Queue queue_;
  Nominator nominator_;
  std::map<std::string, std::shared_ptr<const Node>, std::less<>> nodes_;
  std::map<Name, PodRef> pods_;                       // as the API server has them
  std::unordered_map<std::string, Name> names_;       // by uid
  std::unordered_map<std::string, Assumed> assumed_;  // by uid
  MonoTime next_expiry_ = MonoTime::max();            // of them, or earlier
  std::map<Name, PodDisruptionBudget> budget_objects_;
  Budgets budgets_;
  bool budgets_stale_ = false;
};

}  // namespace holdfast::sync::schedule
