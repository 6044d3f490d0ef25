#include "sync/runtime/failure_events.h"

#include <algorithm>
#include <cstdio>
#include <optional>

namespace holdfast::sync::runtime {
namespace {

using Statuses = std::vector<ContainerStatus>;

const ContainerStatus* find(const Statuses& statuses, const std::string& name) {
  const auto at = std::find_if(statuses.begin(), statuses.end(),
                               [&name](const auto& status) { return status.name == name; });
  return at == statuses.end() ? nullptr : &*at;
}

// The container's last attempt, if it failed to start.
const ContainerTerminated* failed_start(const ContainerStatus& status) {
  const auto& now = status.state.terminated;
  const auto& last = status.last_state.terminated;
  if (now && now->reason == "StartError") return &*now;
  return !now && last && last->reason == "StartError" ? &*last : nullptr;
}

void tell(const ContainerStatus* before, const ContainerStatus& now,
          std::vector<FailureEvent>& events) {
  const ContainerTerminated* failed = failed_start(now);
  const ContainerTerminated* known = before == nullptr ? nullptr : failed_start(*before);
  if (failed != nullptr && (known == nullptr || known->container_id != failed->container_id)) {
    events.push_back({"Failed", "Error: container " + now.name + ": " + failed->message});
  }
  if (!now.state.waiting || now.state.waiting->message.empty()) return;
  const ContainerWaiting& waiting = *now.state.waiting;
  const bool same_attempt = before != nullptr && before->last_state == now.last_state;
  const bool told = before != nullptr && before->state.waiting &&
                    *before->state.waiting == waiting && same_attempt;
  if (told) return;
  if (waiting.reason == "CrashLoopBackOff") {
    events.push_back({"BackOff", "Back" + waiting.message.substr(4)});
  } else {
    events.push_back({"Failed", "Error: container " + now.name + ": " + waiting.message});
  }
}

void tell_all(const Statuses& before, const Statuses& now, std::vector<FailureEvent>& events) {
  for (const ContainerStatus& status : now) tell(find(before, status.name), status, events);
}

}  // namespace

std::vector<FailureEvent> failure_events(const PodStatus& before, const PodStatus& now) {
  std::vector<FailureEvent> events;
  tell_all(before.init_container_statuses, now.init_container_statuses, events);
  tell_all(before.container_statuses, now.container_statuses, events);
  return events;
}

Event make_event(const PodKey& pod, const FailureEvent& failure, const std::string& node_name,
                 WallTime now) {
  char unique[20];
  (void)std::snprintf(unique, sizeof unique, "%llx",
                      static_cast<unsigned long long>(now.time_since_epoch().count()));
  Event event;
  event.metadata.namespace_name = pod.namespace_name;
  event.metadata.name = pod.name + "." + unique;
  event.involved_object.kind = "Pod";
  event.involved_object.api_version = "v1";
  event.involved_object.namespace_name = pod.namespace_name;
  event.involved_object.name = pod.name;
  event.involved_object.uid = pod.uid;
  event.reason = failure.reason;
  event.message = failure.message;
  event.type = "Warning";
  event.source = {"holdfast-node", node_name, {}};
  event.first_timestamp = event.last_timestamp = now;
  event.count = 1;
  event.reporting_component = "holdfast-node";
  event.reporting_instance = node_name;
  return event;
}

}  // namespace holdfast::sync::runtime
