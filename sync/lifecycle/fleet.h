// The node lifecycle controller as a machine: all nodes of a cluster, judged, counted and tainted.
//
// Objects and leases come in as they change; pass() is run every monitor period and drain() when
// next_drain() says so. Both return what to do; statuses, taints and evictions are to be answered
// with settle(), and pods that could not be marked with pods_left_unmarked(). Only what changed or
// is due costs work. No clock, no I/O, no pods: those are the owner's, see MarkPods and EvictPods.
// Behaviour: nlc.md sections 5 to 13.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "sync/lifecycle/facts.h"
#include "sync/lifecycle/node_health.h"
#include "sync/lifecycle/options.h"
#include "sync/lifecycle/wish.h"
#include "sync/lifecycle/zones.h"
#include "sync/pacing/deadlines.h"

namespace holdfast::sync::lifecycle {

// What is due for a pod that was just assigned to a node.
struct PodDuty {
  bool mark = false;   // its node is not ready: mark it not ready
  bool evict = false;  // its node was evicted: delete it, as EvictPods does
  bool operator==(const PodDuty&) const = default;
};

class Fleet {
 public:
  explicit Fleet(const Options& options);
  ~Fleet();
  Fleet(const Fleet&) = delete;
  Fleet& operator=(const Fleet&) = delete;

  // A node is there or changed. Its heartbeat counts from `now`.
  void set_node(MonoTime now, WallTime wall, NodeFacts node);
  // It is gone; pass() will say so, unless it is back by then.
  void remove_node(const std::string& name);

  // The lease of a node, which need not be known yet.
  void set_lease(MonoTime now, const std::string& node, WallTime renewed);
  void remove_lease(const std::string& node);

  // Judges what changed and what is due, then the zones. `now` must not run backwards.
  [[nodiscard]] Wishes pass(MonoTime now, WallTime wall);

  // Taints, or evicts, those whose turn it is in their zone.
  [[nodiscard]] Wishes drain(MonoTime now, WallTime wall);

  // How a wish went. Outcomes for nodes that are gone by now are ignored. The first returns what
  // follows from it.
  [[nodiscard]] Wishes settle(MonoTime now, WallTime wall, const UpdateNodeStatus& update,
                              const Outcome& outcome);
  void settle(MonoTime now, const PatchTaints& patch, const Outcome& outcome);
  void settle(MonoTime now, const EvictPods& eviction, const Outcome& outcome);

  [[nodiscard]] PodDuty pod_assigned(MonoTime now, const std::string& node);
  // Marking a pod of that node failed: the next pass tries all of them.
  void pods_left_unmarked(const std::string& node);

  // Heartbeats may have been missed here: every node gets a full grace from now.
  void restart_graces(MonoTime now);

  // Whether the node's own NoExecute taints must not evict anyone now.
  [[nodiscard]] bool withholds_evictions(MonoTime now, const std::string& node) const;

  [[nodiscard]] MonoTime next_drain() const { return zones_.next(); }

  // nullptr when unknown. Borrowed until the next change.
  [[nodiscard]] const NodeFacts* node(const std::string& name) const;
  [[nodiscard]] const Zones& zones() const { return zones_; }
  [[nodiscard]] std::size_t size() const { return by_name_.size(); }

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

  void register_node(Member& member, Wishes& wishes);
  void unregister_node(Member& member, Wishes& wishes);
  void visit(MonoTime now, WallTime wall, Member& member, Wishes& wishes);
  void proceed(MonoTime now, WallTime wall, Member& member, const ConditionFacts& observed,
               const ConditionFacts& current, Wishes& wishes);
  void report_autonomy(Member& member, Wishes& wishes);
  void update_withholding(MonoTime now, Member& member, const ConditionFacts& current,
                          Wishes& wishes);
  void decide_taints(MonoTime now, WallTime wall, Member& member, const ConditionFacts& observed,
                     Wishes& wishes);
  void decide_eviction(MonoTime now, Member& member, const ConditionFacts& observed,
                       Wishes& wishes);
  void mark_pods(MonoTime now, Member& member, const ConditionFacts& current, Wishes& wishes);
  void evict(MonoTime now, Member& member, Wishes& wishes);
  void cancel_eviction(Member& member, Wishes& wishes);
  void stop_all_zones(Wishes& wishes);
  void restart_zones(MonoTime now);
  void take_turn(MonoTime now, WallTime wall, Zone& zone, const std::string& name, Wishes& wishes);

  Options options_;
  std::vector<std::unique_ptr<Member>> members_;  // by id
  std::vector<pacing::Deadlines::Id> free_;
  std::unordered_map<std::string, pacing::Deadlines::Id> by_name_;
  std::vector<pacing::Deadlines::Id> touched_;
  pacing::Deadlines deadlines_;
  Zones zones_;
};

}  // namespace holdfast::sync::lifecycle
