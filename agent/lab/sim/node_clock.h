// The wall clock of one node: it may be wrong, jump and drift.

#pragma once

#include "agent/lab/sim/engine.h"

namespace holdfast::agent::lab::sim {

class NodeClock {
 public:
  explicit NodeClock(const Engine& engine)
      : engine_(engine), set_at_(engine.wall()), shown_(engine.wall()) {}

  [[nodiscard]] WallTime wall() const {
    const auto passed = std::chrono::duration<double, std::nano>(engine_.wall() - set_at_) * rate_;
    return shown_ + std::chrono::duration_cast<Duration>(passed);
  }
  void step(Duration by) { set(wall() + by, rate_); }
  void drift(double rate) { set(wall(), rate); }
  // As NTP does once the cloud can be reached.
  void correct() { set(engine_.wall(), 1); }

 private:
  void set(WallTime shown, double rate) {
    shown_ = shown;
    set_at_ = engine_.wall();
    rate_ = rate;
  }

  const Engine& engine_;
  WallTime set_at_;  // true time
  WallTime shown_;   // what the clock showed then
  double rate_ = 1;
};

}  // namespace holdfast::agent::lab::sim
