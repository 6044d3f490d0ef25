// The part of the node lifecycle controller that decides about nodes: health, zones, NoExecute
// taints and eviction. Upstream: pkg/controller/nodelifecycle.
//
// The owner reports changes of nodes and leases, calls pass() once in every monitor period and
// drain() when next_drain() is due, and performs the intents that both return. It reports the
// outcomes of UpdateNodeStatus, PatchTaints and EvictPods with settle(), and a pod that could not
// be marked with pods_left_unmarked(). Only nodes that changed or are due cost work. The Fleet has
// no clock, does no I/O, and does not know pods: the owner expands MarkPods and EvictPods. It is
// not thread-safe.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "sync/lifecycle/facts.h"
#include "sync/lifecycle/intent.h"
#include "sync/lifecycle/node_health.h"
#include "sync/lifecycle/options.h"
#include "sync/lifecycle/zones.h"
#include "sync/pacing/deadlines.h"

namespace holdfast::sync::lifecycle {

// What to do with a pod that was just assigned to a node.
struct PodAction {
  bool mark = false;   // mark it not ready, because its node is not ready
  bool evict = false;  // delete it as EvictPods does, because its node was evicted
  bool operator==(const PodAction&) const = default;
};

class Fleet {
 public:
  explicit Fleet(const Options& options);
  ~Fleet();
  Fleet(const Fleet&) = delete;
  Fleet& operator=(const Fleet&) = delete;

  // Adds or replaces a node. A new heartbeat counts as received at `now`.
  void set_node(MonoTime now, WallTime wall, NodeFacts node);
  // The next pass() unregisters the node, unless set_node() adds it again before that.
  void remove_node(const std::string& name);

  // Records the renewal of a node's lease. The node need not be known yet.
  void set_lease(MonoTime now, const std::string& node, WallTime renewed);
  // A known node keeps its last renewal.
  void remove_lease(const std::string& node);

  // Assesses all nodes that changed or are due, then the zones. `now` must not run backwards.
  [[nodiscard]] Intents pass(MonoTime now, WallTime wall);

  // Taints or evicts the nodes whose turn it is in their zone's queue.
  [[nodiscard]] Intents drain(MonoTime now, WallTime wall);

  // Reports the outcome of an intent. Outcomes for nodes that no longer exist are ignored. The
  // first overload returns the intents that follow from a status write.
  [[nodiscard]] Intents settle(MonoTime now, WallTime wall, const UpdateNodeStatus& update,
                               const Outcome& outcome);
  void settle(MonoTime now, const PatchTaints& patch, const Outcome& outcome);
  void settle(MonoTime now, const EvictPods& eviction, const Outcome& outcome);

  // A pod was assigned to `node`. Returns what to do with it at once.
  [[nodiscard]] PodAction pod_assigned(MonoTime now, const std::string& node);
  // A pod of `node` could not be marked not ready: the next pass marks all of them again.
  void pods_left_unmarked(const std::string& node);

  // A pod of `node` became Ready. If the node is Unknown, it may be returning: it reports its pods
  // before its own status. If it then stays silent for a grace period, they are marked again.
  void pod_became_ready(MonoTime now, const std::string& node);

  // Gives every node a full grace period from `now`, because heartbeats may have been missed.
  void restart_graces(MonoTime now);

  // Whether the node's not-ready and unreachable NoExecute taints must not evict pods at `now`.
  [[nodiscard]] bool withholds_evictions(MonoTime now, const std::string& node) const;

  [[nodiscard]] MonoTime next_drain() const { return zones_.next(); }

  // nullptr if the node does not exist. Borrowed until the next change.
  [[nodiscard]] const NodeFacts* node(const std::string& name) const;
  [[nodiscard]] const Zones& zones() const { return zones_; }
  [[nodiscard]] std::size_t size() const { return by_name_.size(); }

  // For tests: every node has one number and one zone, and the zones' counts are those of their
  // nodes.
  void check_invariants() const;

 private:
  struct Member;

  Member& member(const std::string& name);
  [[nodiscard]] Member* find(const std::string& name) const;
  void erase(Member& member);
  void touch(Member& member);
  void rearm(MonoTime now, Member& member);
  void enter_zone(MonoTime now, Member& member, const std::string& key);
  void count(Member& member, bool counts, bool ready);
  std::vector<pacing::Deadlines::Id> take_visits(MonoTime now);

  void register_node(Member& member, Intents& intents);
  void unregister_node(Member& member, Intents& intents);
  void visit(MonoTime now, WallTime wall, Member& member, Intents& intents);
  void proceed(MonoTime now, WallTime wall, Member& member, const ConditionFacts& observed,
               const ConditionFacts& current, Intents& intents);
  void report_autonomy(Member& member, Intents& intents);
  void update_withholding(MonoTime now, Member& member, const ConditionFacts& current,
                          Intents& intents);
  void decide_taints(MonoTime now, WallTime wall, Member& member, const ConditionFacts& observed,
                     Intents& intents);
  void decide_eviction(MonoTime now, Member& member, const ConditionFacts& observed,
                       Intents& intents);
  // When the pods that an Unknown node has reported are marked again; MonoTime::max(): never.
  [[nodiscard]] MonoTime marks_again_after(const Member& member) const;
  void mark_pods(MonoTime now, Member& member, const ConditionFacts& current, Intents& intents);
  void evict(MonoTime now, Member& member, Intents& intents);
  void cancel_eviction(Member& member, Intents& intents);
  void stop_all_zones(Intents& intents);
  void restart_zones(MonoTime now);
  void take_turn(MonoTime now, WallTime wall, Zone& zone, const std::string& name,
                 Intents& intents);

  Options options_;
  std::vector<std::unique_ptr<Member>> members_;  // by id
  std::vector<pacing::Deadlines::Id> free_;
  std::unordered_map<std::string, pacing::Deadlines::Id> by_name_;
  std::vector<pacing::Deadlines::Id> touched_;
  pacing::Deadlines deadlines_;
  Zones zones_;
};

}  // namespace holdfast::sync::lifecycle
