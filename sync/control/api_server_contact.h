// Tracks whether the API server answers. While it does not, missing heartbeats say nothing about
// nodes.
//
// The owner reports every answer, every watch event and every failed request. No clock, no I/O.

#pragma once

#include "platform/time.h"

namespace holdfast::sync::control {

class ApiServerContact {
 public:
  // A gap longer than `patience` (> 0) must not count as missing heartbeats.
  ApiServerContact(MonoTime now, Duration patience) : patience_(patience), answered_at_(now) {}

  // An answer or event arrived. Returns true if this ends a gap longer than `patience` in which
  // requests failed: all nodes then need a new grace period.
  [[nodiscard]] bool note_answer(MonoTime now) {
    const bool long_gap = lost_ && now - answered_at_ > patience_;
    lost_ = false;
    answered_at_ = now;
    return long_gap;
  }

  // A request got no answer, or one that shows a fault of the server.
  void note_failure() { lost_ = true; }

  [[nodiscard]] bool is_lost() const { return lost_; }

 private:
  Duration patience_;
  MonoTime answered_at_;
  bool lost_ = false;
};

}  // namespace holdfast::sync::control
