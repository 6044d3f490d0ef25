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

// Who is told what happens, to count it.
class CloudObserver {
 public:
  virtual ~CloudObserver() = default;
  virtual void wished(const sync::lifecycle::Action& action) = 0;  // it is going to be done
  virtual void settled(const sync::lifecycle::Action& action,
                       const sync::lifecycle::Outcome& outcome) = 0;
  virtual void passed(MonoTime began) = 0;  // all nodes that were due have been judged
};

class Cloud {
 public:
  // `writer`, `clock` and `observer`, which may be null, outlive it.
  Cloud(asio::any_io_executor executor, const sync::lifecycle::Options& options,
        const sync::lifecycle::Parts& parts, ClusterWriter& writer, const Clock& clock,
        WorkLimits limits = {}, CloudObserver* observer = nullptr);

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
  [[nodiscard]] bool started() const { return mode_ == Mode::acting; }

  // Somebody else acts: until start() we only keep up. What the rules wish meanwhile counts as
  // tried in vain, so that start() finds it still to be done, as far as it then is.
  void follow();
  [[nodiscard]] bool following() const { return mode_ == Mode::following; }

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
  enum class Mode : std::uint8_t { waiting, following, acting };

  void add(sync::lifecycle::Actions actions);
  void act(sync::lifecycle::Actions actions);
  void turn_down(sync::lifecycle::Actions actions);
  void settle(const sync::lifecycle::Action& action, const sync::lifecycle::Outcome& outcome);

  const Clock& clock_;
  sync::lifecycle::Controller rules_;
  CloudObserver* observer_;
  sync::lifecycle::Actions held_back_;  // while waiting
  Mode mode_ = Mode::waiting;
  bool paused_ = false;
  loop::Event changed_;
  Work work_;
};

}  // namespace holdfast::agent
