// What must hold at every event, checked by code that does not use the rules under test. The source
// is the list of invariants for partition labs in the project's study of its peers.
//
// It observes the API server and the nodes, and ends the simulation at the first violation.

#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "agent/lab/sim/kubelet.h"
#include "agent/lab/sim/server.h"
#include "sync/lifecycle/options.h"

namespace holdfast::agent::lab::sim {

class Invariants final : public NodeObserver {
 public:
  // `rules` are those of the lifecycle controller under test. Everything must outlive this; `next`
  // is told everything, too.
  Invariants(Engine& engine, Server& server, const sync::lifecycle::Options& rules,
             NodeObserver& next);
  Invariants(const Invariants&) = delete;
  Invariants& operator=(const Invariants&) = delete;
  ~Invariants() override = default;

  // A controller that starts may evict at once, because it does not know when the last one did, and
  // gives every node a grace period. Nor does it know of outages before.
  void controller_started() {
    last_taint_.clear();
    outage_ended_ = MonoTime::min();
    controller_started_ = engine_.now();
  }

  // Whether the API server answers the controller. After an outage as long as the grace period,
  // every node has a new one.
  void control_plane_is(bool answers);

  // A renewal that reached the API server, or one that a quiet node skipped.
  void lease_renewed(const std::string& node, WallTime renewed);
  // When the API server heard the node last; MonoTime::min(): never.
  [[nodiscard]] MonoTime last_contact(const std::string& node) const;
  // When the node last reported that a pod became Ready; MonoTime::min(): never.
  [[nodiscard]] MonoTime last_pod(const std::string& node) const;

  void container_is(const std::string& node, const std::string& pod_uid, std::string_view state,
                    int restarts) override;
  void pod_stops(const std::string& node, const std::string& pod_uid,
                 std::string_view why) override;

 private:
  struct NodeFacts {
    MonoTime contact = MonoTime::min();  // the last heartbeat that reached the API server
    MonoTime pod = MonoTime::min();      // the last report that one became Ready
    WallTime renewed = WallTime::min();  // by its lease
    NodePtr last;
    MonoTime tainted_until = MonoTime::min();  // max(): it has a NoExecute taint
    MonoTime closed_since = MonoTime::max();   // for new pods, by a taint or a cordon
  };

  void observe(const Change& change);
  void observe_node(const Change& change);
  void observe_pod(const Change& change);
  void check_unknown(const std::string& name, const NodeFacts& facts);
  void check_outage(const std::string& what);
  void check_taint(const sync::Node& node, const NodeFacts& facts);
  void check_rate(const sync::Node& node);
  void check_status(const Change& change);
  void check_removal(const Change& change);
  void check_binding(const Change& change);
  void check_eviction(const sync::Pod& pod);
  [[nodiscard]] bool may_evict(const sync::Pod& pod, const NodeFacts& facts) const;
  void check_ordinal(const std::string& uid, bool runs);

  Engine& engine_;
  Server& server_;
  const sync::lifecycle::Options& rules_;
  NodeObserver& next_;
  std::map<std::string, NodeFacts> nodes_;
  std::unordered_set<std::string> may_stop_;              // uids of pods that were deleted or ended
  std::unordered_map<std::string, std::string> names_;    // of pods, by uid
  std::unordered_set<std::string> ordinals_;              // uids of pods of StatefulSets
  std::map<std::string, std::set<std::string>> running_;  // uids by that name
  std::unordered_set<std::string> ran_;                   // uids of pods that have run
  std::unordered_set<std::string> alive_;                 // uids of pods whose container runs
  std::map<std::string, MonoTime> last_taint_;            // by zone
  MonoTime controller_started_ = Engine::start;
  std::optional<MonoTime> outage_began_;      // the API server does not answer the controller
  MonoTime leases_silent_ = MonoTime::min();  // the controller did not hear of a renewal then
  MonoTime outage_ended_ = MonoTime::min();   // one that was as long as the grace period
};

}  // namespace holdfast::agent::lab::sim
