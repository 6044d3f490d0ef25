// One node of a simulation: its clock, link, disk, edge agent and kubelet, which can fail one by
// one.

#pragma once

#include <memory>
#include <string>

#include "agent/lab/sim/direct.h"
#include "agent/lab/sim/edge.h"
#include "agent/lab/sim/kubelet.h"

namespace holdfast::agent::lab::sim {

class SimNode {
 public:
  struct Parts {
    Engine& engine;
    Server& server;
    Traffic& traffic;
    const EdgeConfig& edge;
    const Kubelet::ProfileOf& profile_of;
    NodeObserver& observer;
  };

  SimNode(const Parts& parts, const Site& site, std::string name, std::shared_ptr<Line> line);
  SimNode(const SimNode&) = delete;
  SimNode& operator=(const SimNode&) = delete;
  ~SimNode() = default;

  void power_on();
  void power_off();
  // kill -9 and start of one process. Starting does nothing while the machine is off.
  void kill(Process process);
  void start(Process process);
  void set_disk_full(bool full);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const Site& site() const { return site_; }
  [[nodiscard]] bool is_on() const { return on_; }
  [[nodiscard]] Link& link() { return link_; }
  [[nodiscard]] NodeClock& clock() { return clock_; }
  [[nodiscard]] const Kubelet& kubelet() const { return kubelet_; }
  // When its agent was started last; the start of the simulation if it has none.
  [[nodiscard]] MonoTime agent_started() const { return edge_ ? edge_->started() : Engine::start; }
  // Heartbeats of quiet nodes are skipped; see quiet.h. A node may be quiet if it is healthy, does
  // nothing else, and nothing holds it awake.
  [[nodiscard]] bool may_be_quiet() const;
  [[nodiscard]] bool is_quiet() const { return link_.quiet().is_on(); }
  void begin_quiet();
  // Returns the number of renewals that were skipped.
  std::uint64_t end_quiet();
  void hold_awake() { ++held_awake_; }
  void let_go() { --held_awake_; }
  // The time of a renewal that is skipped. The node must be quiet.
  [[nodiscard]] WallTime skip_renewal() { return edge_->skip_renewal(); }

  // Whether the node has nothing left to do: the link is connected and the outbox is empty.
  [[nodiscard]] bool has_settled() const;

 private:
  Engine& engine_;
  const Site& site_;
  std::string name_;
  NodeClock clock_;
  Link link_;
  EdgeDisk disk_;
  std::unique_ptr<Edge> edge_;         // null without an agent
  std::unique_ptr<DirectApi> direct_;  // null with one
  Kubelet kubelet_;
  bool on_ = false;
  int held_awake_ = 0;
  MonoTime quiet_since_{};
};

}  // namespace holdfast::agent::lab::sim
