// Decides whether the node's kubelet is alive, apart from whether the cloud can be reached.
//
// The agent renews the node's lease in the kubelet's place; were it to do so for a dead kubelet,
// the cloud would take a node whose pods nobody looks after for healthy. A kubelet is heard when it
// writes its lease or its node's status. Pure; `now` must not run backwards.

#pragma once

#include <algorithm>

#include "platform/time.h"

namespace holdfast::sync {

class KubeletHealth {
 public:
  // A restarted agent grants a full `grace`; zero: there is no kubelet to wait for.
  KubeletHealth(Duration grace, MonoTime now) : grace_(grace), active_at_(now) {}

  void note_activity(MonoTime now) { active_at_ = std::max(active_at_, now); }

  [[nodiscard]] bool silent(MonoTime now) const {
    return grace_ > Duration::zero() && now - active_at_ > grace_;
  }
  // When it was last heard, or the agent's start.
  [[nodiscard]] MonoTime heard_at() const { return active_at_; }

 private:
  Duration grace_;
  MonoTime active_at_;
};

}  // namespace holdfast::sync
