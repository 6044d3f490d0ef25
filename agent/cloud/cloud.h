// The shell round the lifecycle rules: hands them changes and ticks, has their wishes performed.
//
// Threading: the loop's thread only.

#pragma once

#include "agent/cloud/work.h"
#include "agent/cloud/writer.h"
#include "platform/loop/event.h"
#include "platform/time.h"
#include "sync/lifecycle/controller.h"

namespace holdfast::agent {

class Cloud {
 public:
  // `writer` and `clock` outlive it.
  Cloud(asio::any_io_executor executor, const sync::lifecycle::Options& options,
        const sync::lifecycle::Parts& parts, ClusterWriter& writer, const Clock& clock,
        WorkLimits limits = {});

  // Changes, as a watch delivers them.
  void set(const sync::Node& node);
  void set(const sync::Pod& pod);
  void set(const sync::Lease& lease);
  void set(const sync::DaemonSet& set);
  void remove_node(const std::string& name);
  void remove_pod(const std::string& namespace_name, const std::string& name);
  void remove_lease(const std::string& name);
  void remove_daemon_set(const std::string& namespace_name, const std::string& name);

  // Nothing is judged or written before every kind of object was listed once.
  void start();
  [[nodiscard]] bool started() const { return started_; }

  // We could not hear anybody for a while: all silence up to now is forgiven.
  void forgive() { rules_.forgive(clock_.mono()); }

  // Meanwhile nobody is judged and nothing new is evicted: we are deaf.
  void pause() { paused_ = true; }
  void resume();

  // Ticks until cancelled.
  asio::awaitable<void> run();
  // Lets writes under way end, at most until `deadline`.
  asio::awaitable<void> stop(MonoTime deadline) { return work_.stop(deadline); }

  [[nodiscard]] const sync::lifecycle::Controller& rules() const { return rules_; }
  [[nodiscard]] const Work& work() const { return work_; }

 private:
  void add(sync::lifecycle::Actions actions);
  void settle(const sync::lifecycle::Action& action, const sync::lifecycle::Outcome& outcome);

  const Clock& clock_;
  sync::lifecycle::Controller rules_;
  sync::lifecycle::Actions held_back_;  // until start()
  bool started_ = false;
  bool paused_ = false;
  loop::Event changed_;
  Work work_;
};

}  // namespace holdfast::agent
