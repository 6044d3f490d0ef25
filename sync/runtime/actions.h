// What the pure runtime asks its shell to do, in the order given.
//
// Each is harmless when it is done twice, and whatever a crash leaves undone is asked for again:
// the next step sees from the disk and from the processes what has happened.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "sync/model/pod.h"
#include "sync/runtime/launch_plan.h"

namespace holdfast::sync {

struct PodKey {
  std::string namespace_name;
  std::string name;
  std::string uid;

  bool operator==(const PodKey&) const = default;
};

// Why a pod is being stopped for good.
enum class StopCause : std::uint8_t {
  completed,  // its main containers are done: the sidecars go too
  deadline,   // it has run longer than spec.activeDeadlineSeconds
  deleted,    // it has a deletionTimestamp
  removed,    // a complete list does not have it
};

// What has to survive the agent to go on with a pod, whoever can be asked for it then.
struct PodRecord {
  std::shared_ptr<const Pod> pod;
  WallTime accepted_wall{};
  std::optional<MonoTime> accepted = {};  // nothing: before the machine was last booted
  std::optional<StopCause> stopping = {};
};

// Writes the record down, durably, before anything that follows.
struct RecordPod {
  PodRecord record;
};

// Starts a new attempt. If that cannot be done, the attempt is observed as ended: `failed`.
struct StartContainer {
  PodKey pod;
  std::string container;
  std::int32_t number = 0;
  std::int32_t restarts = 0;
  Duration next_delay{};
  LaunchPlan plan;
};

enum class StopSignal : std::uint8_t { terminate, kill };

// Signals the process group of a running attempt, if it still runs.
struct SignalContainer {
  std::string uid;
  std::string container;
  std::int32_t number = 0;
  StopSignal signal = StopSignal::terminate;
};

struct ReportStatus {
  PodKey pod;
  PodStatus status;
};

// The pod has stopped as its deletion asked: DELETE with grace 0, if the uid is still this one.
struct FinalDelete {
  PodKey pod;
};

// Forgets a pod of which nothing runs: its record, attempts and logs.
struct RemovePod {
  std::string uid;
};

using RuntimeAction =
    std::variant<RecordPod, StartContainer, SignalContainer, ReportStatus, FinalDelete, RemovePod>;
using RuntimeActions = std::vector<RuntimeAction>;

}  // namespace holdfast::sync
