// Whether we hear the API server at all. Who is deaf must not take silence for death.
//
// Every request and every watch event is told here. While requests fail nothing is judged; after a
// gap longer than `patience` all silence is forgiven, as it was ours.

#pragma once

#include "platform/time.h"

namespace holdfast::agent {

class Hearing {
 public:
  Hearing(MonoTime now, Duration patience) : patience_(patience), heard_at_(now) {}

  // Something came. True when it ends a gap that must be forgiven.
  bool heard(MonoTime now) {
    const bool long_gap = deaf_ && now - heard_at_ > patience_;
    deaf_ = false;
    heard_at_ = now;
    return long_gap;
  }

  // A request got no answer, or one that says that the server is not well.
  void failed() { deaf_ = true; }

  [[nodiscard]] bool deaf() const { return deaf_; }

 private:
  Duration patience_;
  MonoTime heard_at_;
  bool deaf_ = false;
};

}  // namespace holdfast::agent
