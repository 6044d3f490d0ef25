// What is observed of the processes that represent containers.
//
// Each start of a container is an attempt. Its number grows with each start and is never reused.
// Only the last attempts are kept, as many as status and backoff need.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "platform/time.h"

namespace holdfast::sync::runtime {

// How an attempt ended.
struct ContainerExit {
  enum class Kind : std::uint8_t {
    code,         // the process exited with code `number`
    signal,       // signal `number` ended the process
    unknown,      // it ended while nothing watched it
    failed,       // it could not be started, for the reason in `message`
    never_began,  // its start was prepared but not carried out; it does not count as an attempt
  };
  Kind kind = Kind::unknown;
  std::int32_t number = 0;
  std::string message = {};

  bool operator==(const ContainerExit&) const = default;
};

enum class AttemptState : std::uint8_t {
  created,  // recorded; its process may or may not exist yet
  running,
  ended,
};

struct Attempt {
  std::int32_t number = 0;
  std::int32_t restarts = 0;  // restartCount: earlier attempts, except those that never began
  Duration next_delay{};      // backoff after the end of this attempt
  AttemptState state = AttemptState::created;
  std::optional<WallTime> started_wall = {};
  std::optional<WallTime> ended_wall = {};
  // std::nullopt if it has not happened yet, or happened before the last boot.
  std::optional<MonoTime> started = {};
  std::optional<MonoTime> ended = {};
  ContainerExit exit = {};  // valid if `state` is ended

  bool operator==(const Attempt&) const = default;
};

// Oldest first. The last one is the container's current attempt; the others have ended.
using Attempts = std::vector<Attempt>;

// By container name. A container without attempts may be missing.
using ObservedPod = std::map<std::string, Attempts>;

// By pod uid. Pods that have nothing on disk may be missing.
using ObservedPods = std::map<std::string, ObservedPod>;

}  // namespace holdfast::sync::runtime
