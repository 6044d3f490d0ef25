// Finds the process that holds a socket, and describes that process, using /proc.
//
// The kernel has no index for this: finding an unknown holder reads the descriptors of every
// process (about 10 us per process). Searches are therefore limited by two budgets, one for all
// callers and one for the callers in each cgroup, so that a cgroup with many connections cannot
// prevent callers in other cgroups from being found. Processes that the owner asked to remember are
// checked first and outside the budgets.
//
// Needs the right to read /proc/PID/fd of other processes: the same uid and no more capabilities
// than ours, or CAP_SYS_PTRACE. Threading: one thread.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "platform/fs/file.h"
#include "platform/result.h"
#include "platform/time.h"

namespace holdfast::proc {

struct SocketHolder {
  pid_t pid = 0;
  std::string program;               // base name of its executable; empty if it cannot be read
  std::vector<std::string> cgroups;  // its path in each hierarchy (versions 1 and 2)
  // Its names: the base name of its first argument, and the kernel's name for it (comm, at most 15
  // bytes). A process can change both.
  std::vector<std::string> called = {};

  bool operator==(const SocketHolder&) const = default;
};

// How many directory entries may be read: at once, and per second on average.
struct EntryRate {
  double burst = 0;
  double per_second = 0;
};

struct HolderLimits {
  // For the callers of one cgroup. For the root cgroup, where most processes are without version 2,
  // `total` applies.
  EntryRate each = {.burst = 100'000, .per_second = 10'000};
  EntryRate total = {.burst = 400'000, .per_second = 40'000};  // for all of them
  std::size_t remembered = 32;                  // remembered processes, and remembered relays
  std::size_t cgroups_known = 64;               // cgroups whose budgets and paths are kept
  std::size_t descriptors = 10'000;             // read per process in a search
  std::size_t descriptors_first = 2000;         // read per remembered process
  std::size_t cgroup_directories = 5000;        // read to find a cgroup by its id
  double directory_entries = 10;                // entries that one of these directories costs
  Duration missing = std::chrono::seconds(10);  // before a missing cgroup is searched again
};

// Parses the text of /proc/PID/cgroup: returns the third field of each line, the paths.
[[nodiscard]] std::vector<std::string> cgroups_in(std::string_view text);

class SocketHolders {
 public:
  // `proc` and `cgroup_root` are the mount points of these file systems. Version 2 of cgroups may
  // also be mounted at `cgroup_root`/unified.
  explicit SocketHolders(const HolderLimits& limits = {}, fs::Path proc = "/proc",
                         fs::Path cgroup_root = "/sys/fs/cgroup");

  // Finds a process that holds the socket with this inode, for a caller in this cgroup (its id, or
  // 0). Errors: not_found (no such process among those whose descriptors we may read), exhausted
  // (the search was incomplete: the budget is used up, or a process has too many descriptors).
  [[nodiscard]] Result<SocketHolder> find(std::uint64_t inode, std::uint64_t cgroup, MonoTime now);

  // Describes a process that is known to hold the socket. What cannot be read is empty.
  [[nodiscard]] SocketHolder describe(pid_t pid) const;

  // Checks this process first from now on; at the limit, the process that was remembered longest
  // ago is forgotten. Relays (processes that connect on behalf of others) are kept in a separate
  // list, so that they do not displace the others.
  void remember(pid_t pid);
  void remember_relay(pid_t pid);

  // The path of a version 2 cgroup, relative to the mount point. Returns nothing if the id is the
  // root's (which says nothing where version 1 is in use), if it was not found, or if the budget is
  // used up.
  [[nodiscard]] std::optional<std::string> cgroup_path(std::uint64_t id, MonoTime now);

  // The paths of our own cgroups.
  [[nodiscard]] std::vector<std::string> own_cgroups() const;

  // Whether the descriptors of process 1 can be read. Then those of every other process can be
  // read, too, because none has more rights than process 1.
  [[nodiscard]] bool sees_all() const;

 private:
  struct Budget {
    double entries = 0;  // that may be read now
    MonoTime refilled_at{};

    void refill(const EntryRate& rate, MonoTime now);
  };
  struct GroupBudget {
    std::uint64_t cgroup = 0;
    Budget budget;
  };
  // The cached result of a search for a cgroup.
  struct Known {
    std::uint64_t id = 0;
    std::optional<std::string> path;
    MonoTime until{};  // if it was not found: when to search again
  };
  // The result of reading the descriptors of one process.
  struct Look {
    bool found = false;
    bool whole = true;  // all descriptors were read
    std::size_t entries = 0;
  };

  [[nodiscard]] Look look(pid_t pid, const std::string& link, std::size_t entries_max) const;
  [[nodiscard]] std::optional<pid_t> find_remembered(const std::string& link) const;
  [[nodiscard]] Result<pid_t> search(const std::string& link, Budget& own);
  [[nodiscard]] std::optional<std::string> search_cgroup(std::uint64_t id, Budget& own);
  [[nodiscard]] Budget& budget_of(std::uint64_t cgroup, MonoTime now);
  [[nodiscard]] double left(const Budget& own) const;
  void spend(Budget& own, double entries);

  HolderLimits limits_;
  fs::Path proc_;
  fs::Path cgroup_root_;          // of version 2; empty if it is not mounted
  std::deque<pid_t> remembered_;  // newest first
  std::deque<pid_t> relays_;      // newest first
  Budget total_;
  std::deque<GroupBudget> budgets_;  // most recently used first
  std::deque<Known> cgroups_;        // newest first
};

}  // namespace holdfast::proc
