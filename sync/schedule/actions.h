// The actions of preemption and of failed attempts: plain values, compared with ==.
//
// Every deletion and every status patch names the uid of the pod for which it was decided. The
// owner must send it as a precondition, so that a new pod with the same name is never changed.

#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sync/model/pod.h"
#include "sync/schedule/nominator.h"

namespace holdfast::sync::schedule {

struct PodKey {
  std::string namespace_name;
  std::string name;
  std::string uid;

  bool operator==(const PodKey&) const = default;
};

[[nodiscard]] PodKey key_of(const PodView& pod);

// A strategic merge patch of pods/NAME/status; patch_body() writes it.
struct PatchPodStatus {
  PodKey pod;
  std::optional<PodCondition> condition;     // complete; replaces the condition of its type
  std::vector<std::string> condition_order;  // all types after the patch
  Nomination nominated_node;                 // nullopt: unchanged; "" clears it

  bool operator==(const PatchPodStatus&) const = default;
};

// Clear the pod's nomination. The request has no uid precondition, unlike the other actions.
struct ClearNomination {
  PodKey pod;

  bool operator==(const ClearNomination&) const = default;
};

// Delete the pod with its own grace period, on the condition that it still has this uid.
struct DeletePod {
  PodKey pod;

  bool operator==(const DeletePod&) const = default;
};

// Reject a pod that waits to be bound, so that it returns to the queue.
struct RejectWaiting {
  PodKey pod;
  std::string plugin;
  std::string message;

  bool operator==(const RejectWaiting&) const = default;
};

struct RecordEvent {
  PodKey regarding;
  std::optional<PodKey> related;
  std::string type;  // Normal, Warning
  std::string reason;
  std::string action;
  std::string note;  // at most 1024 bytes

  bool operator==(const RecordEvent&) const = default;
};

// Shut or open the gate of a preempting pod. While it is shut, the pod stays out of the active
// queue, because its victims are still being deleted.
struct SetGate {
  std::string uid;
  bool shut = false;

  bool operator==(const SetGate&) const = default;
};

// Move the pod to the active queue at once, because there may be no event that would do so.
struct ActivatePod {
  std::string uid;

  bool operator==(const ActivatePod&) const = default;
};

using Action = std::variant<PatchPodStatus, ClearNomination, DeletePod, RejectWaiting, RecordEvent,
                            SetGate, ActivatePod>;

// The body of the request to pods/NAME/status, of type application/strategic-merge-patch+json.
[[nodiscard]] std::string patch_body(const PatchPodStatus& patch);
[[nodiscard]] std::string patch_body(const ClearNomination& clear);

// The condition to write so that `status` has `wanted`, or nullopt if it has it already. The
// transition time is kept if the condition's status does not change, and is `now` otherwise.
[[nodiscard]] std::optional<PodCondition> changed_condition(const PodStatus& status,
                                                            PodCondition wanted, WallTime now);

// The types of all conditions after a condition of type `added` is written.
[[nodiscard]] std::vector<std::string> condition_order(const PodStatus& status,
                                                       const std::string& added);

// The message, cut to 1020 bytes and " ..." if it exceeds the 1024 bytes that an event may hold.
[[nodiscard]] std::string event_note(const std::string& message);

}  // namespace holdfast::sync::schedule
