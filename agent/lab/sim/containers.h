// The containers of a node: timers that play starting, running and stopping.

#pragma once

#include <functional>
#include <string>

#include "agent/lab/sim/engine.h"
#include "agent/lab/sim/node_clock.h"
#include "sync/runtime/actions.h"
#include "sync/runtime/attempt.h"

namespace holdfast::agent::lab::sim {

// How the containers of a pod behave.
struct PodProfile {
  Duration start{};     // until it is ready
  Duration stop{};      // from SIGTERM until it has ended
  Duration run_time{};  // after which it ends with success; zero: it runs on
};

class Containers {
 public:
  // `changed` is called with the pod's uid, the new state and the number of restarts.
  using Changed = std::function<void(const std::string& uid, std::string_view state, int restarts)>;

  Containers(Engine& engine, const NodeClock& clock, Changed changed)
      : engine_(engine), clock_(clock), changed_(std::move(changed)) {}

  [[nodiscard]] const sync::runtime::ObservedPods& observed() const { return observed_; }
  void start(const sync::runtime::StartContainer& action, const PodProfile& profile);
  void signal(const sync::runtime::SignalContainer& action, const PodProfile& profile);
  void forget(const std::string& uid) { observed_.erase(uid); }
  // All of them end; what is on disk remains.
  void power_off();

 private:
  using Attempt = sync::runtime::Attempt;

  // Null if it was removed or has another number by now.
  [[nodiscard]] Attempt* find(const std::string& uid, const std::string& container, int number);
  void run(const sync::runtime::StartContainer& action, const PodProfile& profile);
  void end(const std::string& uid, const std::string& container, int number,
           sync::runtime::ContainerExit exit);

  Engine& engine_;
  const NodeClock& clock_;
  Changed changed_;
  sync::runtime::ObservedPods observed_;
  Life power_;
};

}  // namespace holdfast::agent::lab::sim
