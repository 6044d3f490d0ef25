// Tracks whether the API server answers, so that an outage of the API server is not mistaken for an
// outage of the nodes.
//
// Every answered request and every watch event calls heard(), every failed request failed(). While
// requests fail, evictions are paused. After an outage longer than `patience`, heard() returns true
// once: the silence of the nodes in that time must then be ignored.

#pragma once

#include "platform/time.h"

namespace holdfast::agent {

class Hearing {
 public:
  Hearing(MonoTime now, Duration patience) : patience_(patience), heard_at_(now) {}

  // An answer or a watch event arrived. Returns true if it ends an outage longer than `patience`.
  bool heard(MonoTime now) {
    const bool long_gap = deaf_ && now - heard_at_ > patience_;
    deaf_ = false;
    heard_at_ = now;
    return long_gap;
  }

  // A request got no answer, or an answer 5xx.
  void failed() { deaf_ = true; }

  // Whether the latest request failed and nothing has arrived since.
  [[nodiscard]] bool deaf() const { return deaf_; }

 private:
  Duration patience_;
  MonoTime heard_at_;
  bool deaf_ = false;
};

}  // namespace holdfast::agent
