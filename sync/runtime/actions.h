// The actions that PodRuntime asks its caller to perform, in the order given.
//
// Each action may safely be performed twice. If a crash prevents one, a later step asks for it
// again, because every step compares what should run with what is on disk and which processes
// exist.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "sync/model/pod.h"
#include "sync/runtime/launch_plan.h"

namespace holdfast::sync::runtime {

struct PodKey {
  std::string namespace_name;
  std::string name;
  std::string uid;

  bool operator==(const PodKey&) const = default;
};

// Why a pod is stopped permanently.
enum class StopCause : std::uint8_t {
  completed,  // its main containers are done, so its sidecars stop as well
  deadline,   // it has run longer than spec.activeDeadlineSeconds
  deleted,    // it has a deletionTimestamp
  removed,    // a complete list of the node's pods no longer contains it
};

// What is stored of a pod, so that a restarted agent can continue with it while the cloud is
// unreachable.
struct PodRecord {
  std::shared_ptr<const Pod> pod;
  WallTime accepted_wall{};
  std::optional<MonoTime> accepted = {};  // std::nullopt: before the last boot
  std::optional<StopCause> stopping = {};
};

// Stores the record durably. It must be stored before the actions that follow are performed.
struct RecordPod {
  PodRecord record;
};

// Starts a new attempt with this number. If it cannot be started, the caller reports it as an ended
// attempt with ContainerExit::Kind::failed.
struct StartContainer {
  PodKey pod;
  std::string container;
  std::int32_t number = 0;
  std::int32_t restarts = 0;
  Duration next_delay{};
  LaunchPlan plan;
};

enum class StopSignal : std::uint8_t { terminate, kill };

// Sends the signal to the process group of an attempt, if it is still running.
struct SignalContainer {
  std::string uid;
  std::string container;
  std::int32_t number = 0;
  StopSignal signal = StopSignal::terminate;
};

// Sends the status to the API server.
struct ReportStatus {
  PodKey pod;
  PodStatus status;
};

// The pod has stopped because it was deleted: send a DELETE with grace period 0 and this uid as
// precondition.
struct FinalDelete {
  PodKey pod;
};

// Deletes the record, attempts and logs of a pod that has no running process.
struct RemovePod {
  std::string uid;
};

using RuntimeAction =
    std::variant<RecordPod, StartContainer, SignalContainer, ReportStatus, FinalDelete, RemovePod>;
using RuntimeActions = std::vector<RuntimeAction>;

}  // namespace holdfast::sync::runtime
