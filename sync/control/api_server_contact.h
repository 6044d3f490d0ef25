// Tracks whether the API server answers. While it does not, missing heartbeats say nothing about
// nodes.
//
// The owner reports every answered and every failed request, and asks the API server something when
// a probe is due. Events of watches do not count: an overloaded server rejects requests, also those
// of kubelets, while its open watches still deliver events and bookmarks; and a server that hangs
// closes no connection, so that its watches are silent as if every node were. No clock, no I/O.

#pragma once

#include <algorithm>

#include "platform/time.h"

namespace holdfast::sync::control {

class ApiServerContact {
 public:
  // Shorter than the default of 40 s after which nodes without heartbeats are Unknown, by more than
  // the time that a probe takes.
  static constexpr Duration quiet_max = std::chrono::seconds(12);
  static constexpr Duration probe_limit_max = std::chrono::seconds(10);
  static constexpr Duration probe_pause = std::chrono::seconds(2);

  // A gap longer than `patience` (> 0) must not count as missing heartbeats. Silence of the server
  // is noticed within one and a half times `patience`.
  ApiServerContact(MonoTime now, Duration patience) : patience_(patience), answered_at_(now) {}

  // A request was answered. Returns true if this ends a gap longer than `patience` in which
  // requests failed: all nodes then need a new grace period.
  [[nodiscard]] bool note_answer(MonoTime now) {
    const bool long_gap = lost_ && now - answered_at_ > patience_;
    lost_ = false;
    answered_at_ = now;
    return long_gap;
  }

  // A request got no answer, or one that shows that the server is faulty or overloaded.
  void note_failure(MonoTime now) {
    if (!lost_) probed_at_ = std::max(probed_at_, now);
    lost_ = true;
  }

  // The owner sends a probe.
  void note_probe(MonoTime now) { probed_at_ = now; }

  // When to send the next probe: `probe_pause` after the last one while contact is lost, otherwise
  // after `quiet_max` or `patience`, whichever is shorter, without an answer and a probe.
  [[nodiscard]] MonoTime probe_due() const {
    if (lost_) return probed_at_ + probe_pause;
    return std::max(answered_at_, probed_at_) + std::min(quiet_max, patience_);
  }

  // How long to wait for the answer to a probe.
  [[nodiscard]] Duration probe_limit() const { return std::min(probe_limit_max, patience_ / 2); }

  [[nodiscard]] bool is_lost() const { return lost_; }

 private:
  Duration patience_;
  MonoTime answered_at_;
  MonoTime probed_at_ = answered_at_;  // or contact was lost then
  bool lost_ = false;
};

}  // namespace holdfast::sync::control
