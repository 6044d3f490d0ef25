// Runs the machine of one controller: hands it every change and every deadline, and has its effects
// performed in order.
//
// A runner first waits until everything was received, then it acts or follows. While it waits,
// effects are kept back. While it follows, because another replica leads, the machine receives
// everything too, but each effect is settled as cancelled, so that the machine wishes it again as
// far as it is still due when start() is called.
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

// Notified of what a controller does, to count it.
template <class Effect, class Outcome>
class EffectObserver {
 public:
  virtual ~EffectObserver() = default;
  virtual void planned(const Effect& effect) = 0;  // it is going to be performed
  virtual void settled(const Effect& effect, const Outcome& outcome) = 0;
  virtual void stepped(const sync::control::Now& began) = 0;  // a step that began then is over
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

  // All that is borrowed outlives it; `observer` may be null.
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

  // From now on effects are performed. Nothing may be missing that the machine has to know.
  void start() {
    if (std::exchange(mode_, Mode::acting) == Mode::acting) return;
    act(std::exchange(kept_back_, {}));
    changed_.notify_all();
  }
  [[nodiscard]] bool has_started() const { return mode_ == Mode::acting; }

  void follow() {
    CHECK(mode_ != Mode::acting);
    mode_ = Mode::following;
    cancel(std::exchange(kept_back_, {}));
  }
  [[nodiscard]] bool is_following() const { return mode_ == Mode::following; }

  // While paused the machine is not told that time passes, so it decides nothing new by itself.
  void pause() { paused_ = true; }
  void resume() {
    paused_ = false;
    changed_.notify_all();
  }
  [[nodiscard]] bool is_paused() const { return paused_; }

  // Until cancelled.
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

  // Lets what is being performed end, at most until `deadline`.
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
        std::move(step.effects.begin(), step.effects.end(), std::back_inserter(kept_back_));
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
  std::vector<Effect> kept_back_;  // while waiting
  Mode mode_ = Mode::waiting;
  bool paused_ = false;
  MonoTime deadline_ = MonoTime::min();
  loop::Event changed_;
  Queue queue_;
};

}  // namespace holdfast::agent
