// Runs the machine of one controller: passes it every change and every deadline, and performs its
// effects in order.
//
// A runner first waits until all lists were received. Meanwhile it keeps effects back. Then it acts
// or, if another replica leads, follows: the machine still receives everything, but each effect is
// settled as cancelled, so that the machine requests it again if it is still due when start() is
// called.
//
// Machine has the types Input, Effect and Outcome and `control::Step<Effect> step(const
// control::Now&, const Input&)`. Threading: the loop's thread only.

#pragma once

#include <iterator>
#include <utility>
#include <vector>

#include "agent/cloud/effect_queue.h"
#include "platform/loop/event.h"
#include "platform/time.h"
#include "sync/control/step.h"

namespace holdfast::agent {

// Is notified of the effects and steps of a controller, for metrics.
template <class Effect, class Outcome>
class EffectObserver {
 public:
  virtual ~EffectObserver() = default;
  virtual void planned(const Effect& effect) = 0;  // it will be performed
  virtual void settled(const Effect& effect, const Outcome& outcome) = 0;
  virtual void stepped(const sync::control::Now& began) = 0;  // a step that began then has ended
};

template <class Machine>
class ControllerRunner {
 public:
  using Input = typename Machine::Input;
  using Effect = typename Machine::Effect;
  using Outcome = typename Machine::Outcome;
  using Performer = EffectPerformer<Effect, Outcome>;
  using Observer = EffectObserver<Effect, Outcome>;
  using Queue = EffectQueue<Effect, Outcome>;

  // All parameters must outlive this. `observer` may be null.
  ControllerRunner(asio::any_io_executor executor, Machine& machine, Performer& performer,
                   const Clock& clock, EffectLimits limits = {}, Observer* observer = nullptr)
      : machine_(machine),
        clock_(clock),
        observer_(observer),
        changed_(executor),
        queue_(
            executor, performer,
            [this](const Effect& effect, const Outcome& outcome) { settle(effect, outcome); },
            limits) {}

  void feed(const Input& input) {
    const sync::control::Now began = now();
    take(machine_.step(began, input));
    if (observer_ != nullptr) observer_->stepped(began);
  }

  // Performs effects from now on. The machine must have received all lists.
  void start() {
    if (std::exchange(mode_, Mode::acting) == Mode::acting) return;
    act(std::exchange(deferred_, {}));
    changed_.notify_all();
  }
  [[nodiscard]] bool has_started() const { return mode_ == Mode::acting; }

  void follow() {
    CHECK(mode_ != Mode::acting);
    mode_ = Mode::following;
    cancel(std::exchange(deferred_, {}));
  }
  [[nodiscard]] bool is_following() const { return mode_ == Mode::following; }

  // While paused, the machine gets no TimePassed, so it makes no new decisions by itself.
  void pause() { paused_ = true; }
  void resume() {
    paused_ = false;
    changed_.notify_all();
  }
  [[nodiscard]] bool is_paused() const { return paused_; }

  // Runs until cancelled.
  asio::awaitable<void> run() {
    while (true) {
      if (!has_started() || paused_) {
        co_await changed_.wait();
        continue;
      }
      feed(sync::control::TimePassed{});
      (void)co_await changed_.wait_until(deadline_);
    }
  }

  // Waits for the effects under way, at most until `deadline`.
  asio::awaitable<void> stop(MonoTime deadline) { return queue_.stop(deadline); }

  [[nodiscard]] const Queue& queue() const { return queue_; }

 private:
  enum class Mode : std::uint8_t { waiting, following, acting };

  [[nodiscard]] sync::control::Now now() const { return {clock_.mono(), clock_.wall()}; }

  void take(sync::control::Step<Effect> step) {
    const bool earlier = step.deadline < deadline_;
    deadline_ = step.deadline;
    if (earlier) changed_.notify_all();
    switch (mode_) {
      case Mode::waiting:
        std::move(step.effects.begin(), step.effects.end(), std::back_inserter(deferred_));
        return;
      case Mode::following:
        cancel(std::move(step.effects));
        return;
      case Mode::acting:
        act(std::move(step.effects));
        return;
    }
  }

  void act(std::vector<Effect> effects) {
    if (effects.empty()) return;
    for (const Effect& effect : effects) {
      if (observer_ != nullptr) observer_->planned(effect);
    }
    queue_.add(std::move(effects));
  }

  void cancel(std::vector<Effect> effects) {
    Outcome cancelled;
    cancelled.error = Errc::cancelled;
    for (const Effect& effect : effects) {
      if (!order_of(effect).is_report) feed(performed(effect, cancelled));
    }
  }

  void settle(const Effect& effect, const Outcome& outcome) {
    if (observer_ != nullptr) observer_->settled(effect, outcome);
    feed(performed(effect, outcome));
  }

  static Input performed(const Effect& effect, const Outcome& outcome) {
    return sync::control::Performed<Effect, Outcome>{effect, outcome};
  }

  Machine& machine_;
  const Clock& clock_;
  Observer* observer_;
  std::vector<Effect> deferred_;  // while waiting
  Mode mode_ = Mode::waiting;
  bool paused_ = false;
  MonoTime deadline_ = MonoTime::min();
  loop::Event changed_;
  Queue queue_;
};

}  // namespace holdfast::agent
