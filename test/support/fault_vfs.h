// A disk that fails on command: an SQLite VFS named "fault" in front of the system's.
//
// Every write, sync, truncation and deletion, of any file, is one step; steps are counted from 1. A
// plan says at which step the process dies by SIGKILL, or from which on the disk is full or broken.
// What a power cut would leave can be had too: each sync keeps a copy of the file as it then was.
//
// One plan for the whole process; one thread.

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
  DiskFault fault = DiskFault::full;  // full: writes fail; broken: every step does
  bool tear = false;                  // a write that fails or kills leaves its first half
  bool keep_synced = false;           // copies as of the last sync, for lose_unsynced()
  std::string within = {};            // only files whose path has this; the others are passed on
};

struct FaultCounts {
  std::int64_t steps = 0;
  std::int64_t writes = 0;
  std::int64_t bytes = 0;  // written
  // Of 4 KiB, counted once for each time that a file was synced after it: what the disk gets, as
  // kernels write whole pages.
  std::int64_t blocks = 0;
  std::int64_t syncs = 0;
};

// Registers the VFS, follows `plan` from now on and counts anew. Syncs are not passed on to the
// real disk: no test here outlives the page cache.
void follow(const FaultPlan& plan);

[[nodiscard]] const FaultCounts& fault_counts();

// Databases that are opened later and name no VFS use this one, or the system's again.
void use_for_all(bool all);

enum class Lost : std::uint8_t { both, database, log };

// Makes of a database's files what a power cut would have left: what was written to them after
// their last sync is gone.
void lose_unsynced(const std::filesystem::path& database, Lost lost);

}  // namespace holdfast::test
