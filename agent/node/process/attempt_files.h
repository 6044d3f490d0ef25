// The files of one attempt to run a container.
//   attempt.json  written by the runtime before anything is started: the attempt exists
//   lock          held by the attempt's shim for as long as it lives
//   launch.json   written by the shim before the container's first instruction: its process
//   run.json      launch.json, renamed once the program runs
//   exit.json     written by the shim, or by the next holder of the lock: how the attempt ended
//   log           the output of the container
// An attempt is never reused: a shim that starts late and finds launch.json, run.json or exit.json
// exits without running anything.

#pragma once

#include <string>
#include <string_view>

#include "platform/fs/file.h"
#include "platform/proc/identity.h"
#include "sync/runtime/attempt.h"

namespace holdfast::agent::node {

inline constexpr const char* attempt_file = "attempt.json";
inline constexpr const char* lock_file = "lock";
inline constexpr const char* launch_file = "launch.json";
inline constexpr const char* run_file = "run.json";
inline constexpr const char* exit_file = "exit.json";
inline constexpr const char* log_file = "log";

// The content of attempt.json.
struct AttemptRecord {
  std::int32_t restarts = 0;
  Duration next_delay{};

  bool operator==(const AttemptRecord&) const = default;
};

// A point in time. `boot_id` tells whether the monotonic time is of the current boot.
struct BootTime {
  WallTime wall{};
  MonoTime mono{};
  std::string boot_id = {};

  [[nodiscard]] static BootTime now(const Clock& clock);

  bool operator==(const BootTime&) const = default;
};

// The content of launch.json and run.json.
struct RunRecord {
  proc::ProcessIdentity shim;
  proc::ProcessIdentity process;  // leads the container's process group
  BootTime started;

  bool operator==(const RunRecord&) const = default;
};

// The content of exit.json.
struct ExitRecord {
  sync::runtime::ContainerExit exit;
  BootTime ended;

  bool operator==(const ExitRecord&) const = default;
};

[[nodiscard]] std::string to_json(const AttemptRecord& record);
[[nodiscard]] std::string to_json(const RunRecord& record);
[[nodiscard]] std::string to_json(const ExitRecord& record);

// Read the file of that kind in the attempt's directory. Errors: not_found; corrupt if its content
// is invalid.
[[nodiscard]] Result<AttemptRecord> read_attempt(const fs::Path& dir);
[[nodiscard]] Result<RunRecord> read_launch(const fs::Path& dir);
[[nodiscard]] Result<RunRecord> read_run(const fs::Path& dir);
[[nodiscard]] Result<ExitRecord> read_exit(const fs::Path& dir);

}  // namespace holdfast::agent::node
