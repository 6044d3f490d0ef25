// What scheduling wants done: plain values, compared with ==.
//
// Every deletion and every write of a victim names the uid it was decided for: whoever performs it
// must make that a precondition, so that a pod made anew under the same name is never touched.

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
  std::optional<PodCondition> condition;     // complete, to be added or to take its type's place
  std::vector<std::string> condition_order;  // all types, with the new one
  Nomination nominated_node;                 // set: to be written; "" clears it

  bool operator==(const PatchPodStatus&) const = default;
};

// Nothing else is in the body: a nomination is cleared whatever became of the pod.
struct ClearNomination {
  PodKey pod;

  bool operator==(const ClearNomination&) const = default;
};

// With the pod's own grace period, and the uid as precondition.
struct DeletePod {
  PodKey pod;

  bool operator==(const DeletePod&) const = default;
};

// A pod that waits to be bound goes back to the queue.
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

// While shut, the pod stays out of the active queue: its victims are still being asked to leave.
struct SetGate {
  std::string uid;
  bool shut = false;

  bool operator==(const SetGate&) const = default;
};

// To the active queue at once: nothing that would wake the pod may ever happen.
struct ActivatePod {
  std::string uid;

  bool operator==(const ActivatePod&) const = default;
};

using Action = std::variant<PatchPodStatus, ClearNomination, DeletePod, RejectWaiting, RecordEvent,
                            SetGate, ActivatePod>;

// "{"status":{...}}", the content of a request with application/strategic-merge-patch+json.
[[nodiscard]] std::string patch_body(const PatchPodStatus& patch);
[[nodiscard]] std::string patch_body(const ClearNomination& clear);

// The condition to write so that `status` has `wanted`, or nothing when it has it already. Keeps
// the transition time while the condition's status stays, else it is `now`.
[[nodiscard]] std::optional<PodCondition> changed_condition(const PodStatus& status,
                                                            PodCondition wanted, WallTime now);

// The types of the conditions after that.
[[nodiscard]] std::vector<std::string> condition_order(const PodStatus& status,
                                                       const std::string& added);

// Cut to what an event may hold: 1020 bytes and " ...".
[[nodiscard]] std::string event_note(const std::string& message);

}  // namespace holdfast::sync::schedule
