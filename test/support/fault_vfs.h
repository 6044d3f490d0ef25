// Simulates a disk that fails on command: an SQLite VFS named "fault" on top of the system's.
//
// Each write, sync, truncation and deletion of any file is one step; steps are counted from 1. A
// plan defines the step at which the process is killed with SIGKILL, or from which on the disk is
// full or broken. Power cuts can be simulated as well: each sync keeps a copy of the file's
// content.
//
// There is one plan for the whole process. Not thread-safe.

#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>

namespace holdfast::test {

enum class DiskFault : std::uint8_t { full, broken };

struct FaultPlan {
  std::int64_t kill_at = 0;    // 0: never
  std::int64_t fail_from = 0;  // 0: never
  std::int64_t fail_steps = std::numeric_limits<std::int64_t>::max();
  DiskFault fault = DiskFault::full;  // full: writes fail; broken: every step fails
  bool tear = false;         // a write that fails or kills the process writes its first half
  bool keep_synced = false;  // keep copies as of the last sync, for lose_unsynced()
  std::string within = {};   // only files whose path contains this; other files never fail
};

struct FaultCounts {
  std::int64_t steps = 0;
  std::int64_t writes = 0;
  std::int64_t bytes = 0;  // bytes written
  // Distinct blocks of 4 KiB written, counted again after each sync of their file. This is what the
  // disk receives, because kernels write whole pages.
  std::int64_t blocks = 0;
  std::int64_t syncs = 0;
};

// Registers the VFS, applies `plan` from now on and resets the counts. Syncs do not reach the real
// disk: no test needs data that outlives the page cache.
void follow(const FaultPlan& plan);

[[nodiscard]] const FaultCounts& fault_counts();

// With true, databases that are opened later without naming a VFS use this one; with false, the
// system's.
void use_for_all(bool all);

enum class Lost : std::uint8_t { both, database, log };

// Changes a database's files to what a power cut would leave: removes what was written after their
// last sync. Needs a plan with keep_synced.
void lose_unsynced(const std::filesystem::path& database, Lost lost);

}  // namespace holdfast::test
