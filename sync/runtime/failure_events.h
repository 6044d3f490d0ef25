// Which Events tell a pod's readers that its containers do not start, as the kubelet's do. Pure.

#pragma once

#include <string>
#include <vector>

#include "sync/model/config.h"
#include "sync/model/pod.h"
#include "sync/runtime/actions.h"

namespace holdfast::sync {

struct FailureEvent {
  std::string reason;  // the kubelet's: "Failed" or "BackOff"
  std::string message;

  bool operator==(const FailureEvent&) const = default;
};

// What went wrong between two statuses of one pod: containers that cannot be configured or started,
// and those whose restart is delayed. Each failed attempt is told once.
[[nodiscard]] std::vector<FailureEvent> failure_events(const PodStatus& before,
                                                       const PodStatus& now);

// The Warning Event for it, of a node's runtime at `now`. Its name is unique per pod and time.
[[nodiscard]] Event make_event(const PodKey& pod, const FailureEvent& failure,
                               const std::string& node_name, WallTime now);

}  // namespace holdfast::sync
