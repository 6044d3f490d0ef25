// Decides whether the node's kubelet is alive, independently of whether the cloud is reachable.
//
// The agent renews the node's lease on behalf of the kubelet. If it did so for a dead kubelet, the
// control plane would take a node with unattended pods for healthy. A kubelet counts as alive while
// it writes its lease or its node's status at least once per `grace`. Pure; `now` must not run
// backwards.

#pragma once

#include <algorithm>

#include "platform/time.h"

namespace holdfast::sync::autonomy {

class KubeletHealth {
 public:
  // The grace period starts with the agent. Zero: there is no kubelet to wait for.
  KubeletHealth(Duration grace, MonoTime now) : grace_(grace), active_at_(now) {}

  // Call this when the kubelet writes its lease or its node's status.
  void note_activity(MonoTime now) { active_at_ = std::max(active_at_, now); }

  [[nodiscard]] bool is_inactive(MonoTime now) const {
    return grace_ > Duration::zero() && now - active_at_ > grace_;
  }
  // The time of the last note_activity(), or of the agent's start.
  [[nodiscard]] MonoTime active_at() const { return active_at_; }

 private:
  Duration grace_;
  MonoTime active_at_;
};

}  // namespace holdfast::sync::autonomy
