// Skips the heartbeats of quiet nodes: healthy ones to which nothing is going to happen, which is
// nearly all of a large fleet for nearly all of the time.
//
// A quiet node runs none of its periodic tasks: they are put off until its quiet time ends, and
// then go on in the rhythm that they had. The World ends it before a fault concerns the node. What
// else reaches the node, such as its pods, is handled as always.

#pragma once

#include <utility>
#include <vector>

#include "agent/lab/sim/engine.h"

namespace holdfast::agent::lab::sim {

class Quiet {
 public:
  [[nodiscard]] bool is_on() const { return on_; }
  void begin() { on_ = true; }
  // Runs what was put off, in that order.
  void end() {
    on_ = false;
    for (const auto& [token, task] : std::exchange(put_off_, {})) {
      if (!token.expired()) task();
    }
  }
  // Runs `task` at end(), unless `life` ends before.
  void put_off(const Life& life, Task task) { put_off(life.token(), std::move(task)); }
  void put_off(std::weak_ptr<void> life, Task task) {
    put_off_.emplace_back(std::move(life), std::move(task));
  }

 private:
  bool on_ = false;
  std::vector<std::pair<std::weak_ptr<void>, Task>> put_off_;
};

// The first of `due`, `due` + `interval`, ... that is not before `now`.
[[nodiscard]] inline MonoTime next_in_rhythm(MonoTime due, Duration interval, MonoTime now) {
  if (due >= now) return due;
  const auto missed = (now - due + interval - Duration(1)) / interval;
  return due + missed * interval;
}

}  // namespace holdfast::agent::lab::sim
