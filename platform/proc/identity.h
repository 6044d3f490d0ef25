// Identifies processes: a pid alone is reused, but a pid with its start time and boot id is not.
//
// This works for processes that are not our children, too: a restarted agent recognises what its
// predecessor started, and never mistakes a foreign process with the same pid for it.

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

// The fields of /proc/PID/stat that we use.
struct ProcessStat {
  char state = '?';  // 'R', 'S', 'Z', ...
  pid_t parent = 0;
  pid_t group = 0;
  std::int64_t threads = 0;
  std::uint64_t start_ticks = 0;

  // The process has ended and waits for its parent to reap it. (A process whose first thread has
  // ended is also shown as a zombie while its other threads run.)
  [[nodiscard]] bool is_dead() const {
    return state == 'X' || state == 'x' || (state == 'Z' && threads <= 1);
  }

  bool operator==(const ProcessStat&) const = default;
};

// Parses a line of /proc/PID/stat. The command in it may contain spaces and parentheses.
// Errors: corrupt.
[[nodiscard]] Result<ProcessStat> parse_stat(std::string_view line);

// Errors: not_found if there is no such process.
[[nodiscard]] Result<ProcessStat> read_stat(pid_t pid);

// The id of this boot, read once. Errors: those of fs::read_all().
[[nodiscard]] Result<std::string> read_boot_id();

// The identity of a process that is running or a zombie. Errors: not_found.
[[nodiscard]] Result<ProcessIdentity> identify(pid_t pid);

// Whether exactly this process is still running; false for a zombie and for another process with
// its pid.
[[nodiscard]] bool is_alive(const ProcessIdentity& identity);

// Opens a descriptor that becomes readable when exactly this process ends. It need not be our
// child. Errors: not_found if it has ended; unavailable on a kernel before 5.3, where the caller
// has to poll is_alive().
[[nodiscard]] Result<Descriptor> open_pidfd(const ProcessIdentity& identity);

// Blocks until the process of the pidfd has ended. Returns false after `timeout`.
[[nodiscard]] bool wait_for_end(const Descriptor& pidfd, Duration timeout);

// Sends the signal `number` to the process group that this process leads, or to the process alone.
// Never signals another process that got the same pid. Errors: not_found if it has ended, denied.
[[nodiscard]] Status signal_group(const ProcessIdentity& leader, int number);
[[nodiscard]] Status signal_process(const ProcessIdentity& identity, int number);

// How a process ended: with an exit code or by a signal.
struct ExitStatus {
  bool signalled = false;
  int number = 0;  // the exit code (0..255) or the signal

  bool operator==(const ExitStatus&) const = default;
};

// Reaps our own child if it has ended, so that no zombie remains. Returns nothing if it is still
// running or is not (or no longer) our child.
[[nodiscard]] std::optional<ExitStatus> reap(pid_t child);

}  // namespace holdfast::proc
