// The files of one attempt to run a container, as they stand on disk.
//
//   attempt.json  by the runtime, before anything is started: that there is such an attempt
//   lock          held by the attempt's shim for as long as it lives
//   launch.json   by the shim, before the container's first instruction: which process it is
//   run.json      the same file, renamed once the program runs
//   exit.json     by the shim, or by whoever holds the lock after it: how it ended. The last word
//   log           what the container prints
//
// An attempt is never used again: a shim that comes late and finds one of the last three goes away.

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

// What attempt.json holds.
struct AttemptRecord {
  std::int32_t restarts = 0;
  Duration next_delay{};

  bool operator==(const AttemptRecord&) const = default;
};

// An instant that can be told apart from one of another boot.
struct BootTime {
  WallTime wall{};
  MonoTime mono{};
  std::string boot_id = {};

  [[nodiscard]] static BootTime now();

  bool operator==(const BootTime&) const = default;
};

struct RunRecord {
  proc::ProcessIdentity shim;
  proc::ProcessIdentity process;  // leads the container's process group
  BootTime started;

  bool operator==(const RunRecord&) const = default;
};

struct ExitRecord {
  sync::ContainerExit exit;
  BootTime ended;

  bool operator==(const ExitRecord&) const = default;
};

[[nodiscard]] std::string to_json(const AttemptRecord& record);
[[nodiscard]] std::string to_json(const RunRecord& record);
[[nodiscard]] std::string to_json(const ExitRecord& record);

// Reads the file of that kind in the attempt's directory.
// Errors: not_found; corrupt when it is not what we write.
[[nodiscard]] Result<AttemptRecord> read_attempt(const fs::Path& dir);
[[nodiscard]] Result<RunRecord> read_launch(const fs::Path& dir);
[[nodiscard]] Result<RunRecord> read_run(const fs::Path& dir);
[[nodiscard]] Result<ExitRecord> read_exit(const fs::Path& dir);

}  // namespace holdfast::agent::node
