// Which process exactly: a pid alone is recycled, a pid with its start time and boot is not.
//
// For processes that are not our children too: a restarted agent recognises what its predecessor
// had started, and never takes a stranger that got the same pid for it.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "platform/fs/descriptor.h"
#include "platform/result.h"
#include "platform/time.h"

namespace holdfast::proc {

struct ProcessIdentity {
  pid_t pid = 0;                  // > 0
  std::uint64_t start_ticks = 0;  // clock ticks after boot: field 22 of /proc/PID/stat
  std::string boot_id;            // /proc/sys/kernel/random/boot_id

  bool operator==(const ProcessIdentity&) const = default;
};

// What we use of /proc/PID/stat.
struct ProcessStat {
  char state = '?';  // 'R', 'S', 'Z', ...
  pid_t parent = 0;
  pid_t group = 0;
  std::int64_t threads = 0;
  std::uint64_t start_ticks = 0;

  // Ended, and only waits for its parent to notice. (A process whose first thread has ended shows
  // as a zombie too while its other threads run on.)
  [[nodiscard]] bool is_dead() const {
    return state == 'X' || state == 'x' || (state == 'Z' && threads <= 1);
  }

  bool operator==(const ProcessStat&) const = default;
};

// Reads one line of /proc/PID/stat; the command in it may hold spaces and parentheses.
// Errors: corrupt.
[[nodiscard]] Result<ProcessStat> parse_stat(std::string_view line);

// Errors: not_found when there is no such process.
[[nodiscard]] Result<ProcessStat> read_stat(pid_t pid);

// This boot's id; read once. Errors: as fs::read_all().
[[nodiscard]] Result<std::string> read_boot_id();

// The identity of a process that runs (or is a zombie) now. Errors: not_found.
[[nodiscard]] Result<ProcessIdentity> identify(pid_t pid);

// Whether that very process still runs: a zombie does not, nor does another one with its pid.
[[nodiscard]] bool is_alive(const ProcessIdentity& identity);

// A descriptor that becomes readable when that very process ends; it need not be our child.
// Errors: not_found when it has ended; unavailable on a kernel before 5.3, where the caller has to
// ask is_alive() from time to time.
[[nodiscard]] Result<Descriptor> open_pidfd(const ProcessIdentity& identity);

// Waits until the pidfd says that its process has ended. False when `timeout` came first.
[[nodiscard]] bool wait_for_end(const Descriptor& pidfd, Duration timeout);

// Sends `number` to the process group that this process leads, or to the process alone. Nothing is
// sent to a stranger. Errors: not_found when it has ended, denied.
[[nodiscard]] Status signal_group(const ProcessIdentity& leader, int number);
[[nodiscard]] Status signal_process(const ProcessIdentity& identity, int number);

// How a process ended: it returned a code, or a signal ended it.
struct ExitStatus {
  bool signalled = false;
  int number = 0;  // the code (0..255), or the signal

  bool operator==(const ExitStatus&) const = default;
};

// Collects our own child if it has ended, so that no zombie stays. Nothing when it still runs, or
// is not (or no longer) our child.
[[nodiscard]] std::optional<ExitStatus> reap(pid_t child);

}  // namespace holdfast::proc
