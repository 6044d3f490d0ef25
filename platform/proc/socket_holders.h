// Finds the process that holds a socket, and what is known about that process, through /proc.
//
// The kernel has no index for this: finding an unknown holder reads the descriptors of every
// process (about 10 us per process), within a budget. Processes that the owner has asked to
// remember are looked at first and outside the budget, so that strangers cannot spend it on them.
//
// Needs the right to read /proc/PID/fd of other processes: the same uid with no more capabilities
// than ours, or CAP_SYS_PTRACE. Threading: one thread.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "platform/fs/file.h"
#include "platform/result.h"
#include "platform/time.h"

namespace holdfast::proc {

struct SocketHolder {
  pid_t pid = 0;
  std::string program;               // base name of its executable; empty if it cannot be read
  std::vector<std::string> cgroups;  // its path in each hierarchy, of versions 1 and 2

  bool operator==(const SocketHolder&) const = default;
};

struct HolderLimits {
  std::size_t remembered = 32;            // processes that are looked at first
  double entries_per_second = 20'000;     // descriptors read while searching, on average
  double entries_burst = 200'000;         // and at once
  std::size_t cgroup_directories = 5000;  // that are read to find a cgroup by its id
};

// The paths in the text of /proc/PID/cgroup: the third field of each line.
[[nodiscard]] std::vector<std::string> cgroups_in(std::string_view text);

class SocketHolders {
 public:
  // `proc` and `cgroup_root` are where these file systems are mounted; version 2 of cgroups may
  // also be mounted at `cgroup_root`/unified.
  explicit SocketHolders(const HolderLimits& limits = {}, fs::Path proc = "/proc",
                         fs::Path cgroup_root = "/sys/fs/cgroup");

  // The first process found that holds the socket with this inode. Errors: not_found (no process
  // whose descriptors we may read), exhausted (the budget ended the search).
  [[nodiscard]] Result<SocketHolder> find(std::uint64_t inode, MonoTime now);

  // Looks at this process first from now on; the one remembered longest ago is forgotten.
  void remember(pid_t pid);

  // The path of a version 2 cgroup, relative to its mount. Nothing: the id is that of the root,
  // which tells nothing where version 1 is in use, or it was not found.
  [[nodiscard]] std::optional<std::string> cgroup_path(std::uint64_t id);

 private:
  [[nodiscard]] bool holds(pid_t pid, const std::string& link);
  [[nodiscard]] SocketHolder describe(pid_t pid) const;
  void refill(MonoTime now);

  HolderLimits limits_;
  fs::Path proc_;
  fs::Path cgroup_root_;          // of version 2; empty if it is not mounted
  std::deque<pid_t> remembered_;  // the latest first
  double entries_;                // that may still be read now
  MonoTime refilled_at_{};
  std::deque<std::pair<std::uint64_t, std::string>> cgroups_;  // found lately
};

}  // namespace holdfast::proc
