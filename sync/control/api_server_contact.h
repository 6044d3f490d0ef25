// Whether the API server answers. While it does not, the silence of nodes says nothing about them.
//
// Its owner reports every answer, every watch event and every failed request. Pure.

#pragma once

#include "platform/time.h"

namespace holdfast::sync::control {

class ApiServerContact {
 public:
  // A gap longer than `patience` (> 0) must not count as the nodes' silence.
  ApiServerContact(MonoTime now, Duration patience) : patience_(patience), answered_at_(now) {}

  // Something was received. Returns true when this ends a gap longer than `patience`, in which
  // requests failed: then all nodes need a new grace.
  [[nodiscard]] bool note_answer(MonoTime now) {
    const bool long_gap = lost_ && now - answered_at_ > patience_;
    lost_ = false;
    answered_at_ = now;
    return long_gap;
  }

  // A request got no answer, or one that says that the server is not well.
  void note_failure() { lost_ = true; }

  [[nodiscard]] bool is_lost() const { return lost_; }

 private:
  Duration patience_;
  MonoTime answered_at_;
  bool lost_ = false;
};

}  // namespace holdfast::sync::control
