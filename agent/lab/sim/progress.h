// What must happen within a bound, looked at every five seconds: the other half of the invariants,
// which say what must never happen. Independent of the rules under test, too.
//
// What depends on the lifecycle controller counts while it runs and the API server answers it, and
// has done so for two grace periods. What needs everything counts once all faults have been over
// for a time (calm).

#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agent/lab/sim/invariants.h"
#include "agent/lab/sim/sim_node.h"

namespace holdfast::agent::lab::sim {

class Progress {
 public:
  struct Parts {
    Engine& engine;
    Server& server;
    const Invariants& facts;
    const sync::lifecycle::Options& rules;
    Duration kubelet_grace;  // of the agents
    const std::vector<std::unique_ptr<SimNode>>& nodes;
  };

  // All parts must outlive it.
  explicit Progress(const Parts& parts) : parts_(parts) {}

  // The controller or the API server was disturbed, or is (until the next call).
  void control_plane_is(bool works);
  // Looks once. `is_calm`: no fault has been under way for a time that is enough to recover.
  void look(bool is_calm);

  static constexpr Duration interval = std::chrono::seconds(5);

 private:
  // `key` is not as it should be: a violation if that lasts longer than `bound`.
  void wrong(const std::string& invariant, const std::string& key, Duration bound);
  void look_at_controller();
  void look_at_node(const sync::Node& node);
  void look_at_pod(const sync::Pod& pod, const sync::Node& node);
  void look_at_calm();
  void look_at_calm_pod(const sync::Pod& pod);
  void look_at_containers(const SimNode& node);
  [[nodiscard]] bool any_is_ready() const;
  [[nodiscard]] bool must_be_tainted(const sync::Node& node) const;
  [[nodiscard]] Duration turn(const sync::Node& node) const;

  Parts parts_;
  bool works_ = true;
  MonoTime works_since_ = Engine::start;
  std::map<std::string, MonoTime> since_;  // of what was wrong at the last look, by text
  std::map<std::string, MonoTime> wrong_;  // of what is wrong at this one
};

}  // namespace holdfast::agent::lab::sim
