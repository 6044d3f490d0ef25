// Runs the lifecycle controllers (sync::lifecycle::Controller) on the event loop: passes watch
// changes and timer ticks to the pure rules, queues the actions they return for writing, and
// reports the outcome of each write back to them.
//
// A Cloud starts in mode `waiting`: it applies changes but holds the actions back until every kind
// of object was listed once. follow() puts it on standby, start() lets it act.
//
// Threading: the loop's thread only.

#pragma once

#include "agent/cloud/work.h"
#include "agent/cloud/writer.h"
#include "platform/loop/event.h"
#include "platform/time.h"
#include "sync/lifecycle/controller.h"

namespace holdfast::agent {

// Receives what the controllers do, for metrics.
class CloudObserver {
 public:
  virtual ~CloudObserver() = default;
  virtual void wished(const sync::lifecycle::Action& action) = 0;  // queued for writing
  // `action` was tried once, with this outcome.
  virtual void settled(const sync::lifecycle::Action& action,
                       const sync::lifecycle::Outcome& outcome) = 0;
  virtual void passed(MonoTime began) = 0;  // a monitor pass over all nodes has ended
};

class Cloud {
 public:
  // `writer`, `clock` and `observer` are borrowed and outlive it. `observer` may be null.
  Cloud(asio::any_io_executor executor, const sync::lifecycle::Options& options,
        const sync::lifecycle::Parts& parts, ClusterWriter& writer, const Clock& clock,
        WorkLimits limits = {}, CloudObserver* observer = nullptr);

  // Changes, in the order in which a watch delivers them.
  void set(const sync::Node& node);
  void set(const sync::Pod& pod);
  void set(const sync::Lease& lease);
  void set(const sync::DaemonSet& set);
  void remove_node(const std::string& name);
  void remove_pod(const std::string& namespace_name, const std::string& name);
  void remove_lease(const std::string& name);
  void remove_daemon_set(const std::string& namespace_name, const std::string& name);

  // Begins to act. Called when every kind of object was listed once and this replica leads; until
  // then no node is marked Unknown and nothing is written.
  void start();
  [[nodiscard]] bool started() const { return mode_ == Mode::acting; }

  // Standby: another replica leads. Changes are still applied, and each action that the rules
  // return is settled at once as cancelled, so that start() finds it still to be done if it is
  // still due. Must not be called after start().
  void follow();
  [[nodiscard]] bool following() const { return mode_ == Mode::following; }

  // Ignores the silence of all nodes up to now. Called after the API server was unreachable, when
  // missing heartbeats say nothing about the nodes.
  void forgive() { rules_.forgive(clock_.mono()); }

  // Stops and resumes the checks of nodes, and with them new evictions. Used while the API server
  // does not answer.
  void pause() { paused_ = true; }
  void resume();

  // Runs the rules whenever they are due, until cancelled.
  asio::awaitable<void> run();
  // Drops queued writes and waits for those under way, at most until `deadline`.
  asio::awaitable<void> stop(MonoTime deadline) { return work_.stop(deadline); }

  [[nodiscard]] const sync::lifecycle::Controller& rules() const { return rules_; }
  [[nodiscard]] const Work& work() const { return work_; }

 private:
  enum class Mode : std::uint8_t { waiting, following, acting };

  // Handles actions according to the mode: hold back, reject or queue.
  void add(sync::lifecycle::Actions actions);
  void act(sync::lifecycle::Actions actions);
  // Settles the actions as cancelled, and those that follow from that.
  void turn_down(sync::lifecycle::Actions actions);
  void settle(const sync::lifecycle::Action& action, const sync::lifecycle::Outcome& outcome);

  const Clock& clock_;
  sync::lifecycle::Controller rules_;
  CloudObserver* observer_;
  sync::lifecycle::Actions held_back_;  // actions returned in mode `waiting`
  Mode mode_ = Mode::waiting;
  bool paused_ = false;
  loop::Event changed_;
  Work work_;
};

}  // namespace holdfast::agent
