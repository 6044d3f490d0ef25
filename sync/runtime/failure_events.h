// Decides which Events report that a pod's containers do not start, with the kubelet's reasons.
// Pure.

#pragma once

#include <string>
#include <vector>

#include "sync/model/config.h"
#include "sync/model/pod.h"
#include "sync/runtime/actions.h"

namespace holdfast::sync::runtime {

struct FailureEvent {
  std::string reason;  // "Failed" or "BackOff"
  std::string message;

  bool operator==(const FailureEvent&) const = default;
};

// The failures that appeared between two statuses of one pod: containers that cannot be configured
// or started, and containers whose restart is delayed. Each failed attempt is reported once.
[[nodiscard]] std::vector<FailureEvent> failure_events(const PodStatus& before,
                                                       const PodStatus& now);

// The Warning Event for a failure, created at `now`. Its name is unique per pod and time.
[[nodiscard]] Event make_event(const PodKey& pod, const FailureEvent& failure,
                               const std::string& node_name, WallTime now);

}  // namespace holdfast::sync::runtime
