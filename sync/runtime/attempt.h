// What is observed of the processes that stand for containers.
//
// Every start of a container is an attempt with a number of its own, which grows with each start
// and is never used twice. Only the last attempts are kept: all that status and back-off need.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "platform/time.h"

namespace holdfast::sync {

// How an attempt ended.
struct ContainerExit {
  enum class Kind : std::uint8_t {
    code,         // the process returned `number`
    signal,       // the signal `number` ended it
    unknown,      // it ended while nobody watched
    failed,       // it could not be started, for the reason in `message`
    never_began,  // its start was prepared and then not carried out: it does not count
  };
  Kind kind = Kind::unknown;
  std::int32_t number = 0;
  std::string message = {};

  bool operator==(const ContainerExit&) const = default;
};

enum class AttemptState : std::uint8_t {
  created,  // written down; its process may or may not exist yet
  running,
  ended,
};

struct Attempt {
  std::int32_t number = 0;
  std::int32_t restarts = 0;  // earlier attempts that did begin: the container's restartCount
  Duration next_delay{};      // the back-off to keep after its end
  AttemptState state = AttemptState::created;
  std::optional<WallTime> started_wall = {};
  std::optional<WallTime> ended_wall = {};
  // Nothing when it has not happened, or happened before the machine was last booted.
  std::optional<MonoTime> started = {};
  std::optional<MonoTime> ended = {};
  ContainerExit exit = {};  // once ended

  bool operator==(const Attempt&) const = default;
};

// Oldest first. The last one is the container's present; those before it have ended.
using Attempts = std::vector<Attempt>;

// By the container's name. A container without attempts may be missing.
using ObservedPod = std::map<std::string, Attempts>;

// By the pod's uid. Pods of which nothing is on disk may be missing.
using ObservedPods = std::map<std::string, ObservedPod>;

}  // namespace holdfast::sync
