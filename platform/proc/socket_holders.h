// Finds the process that holds a socket, and what is known about that process, through /proc.
//
// The kernel has no index for this: finding an unknown holder reads the descriptors of every
// process (about 10 us per process). So searches have a budget, of all callers together and of the
// callers in one cgroup: whoever makes many connections from one cgroup does not keep those in
// others from being found. Processes that the owner has asked to remember are looked at first and
// outside the budget.
//
// Needs the right to read /proc/PID/fd of other processes: the same uid with no more capabilities
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
  std::vector<std::string> cgroups;  // its path in each hierarchy, of versions 1 and 2
  // What it was called as: the base name of its first argument, and the name that the kernel shows
  // (at most 15 bytes). A process can set both.
  std::vector<std::string> called = {};

  bool operator==(const SocketHolder&) const = default;
};

// How many entries of directories may be read: at once, and on average.
struct EntryRate {
  double burst = 0;
  double per_second = 0;
};

struct HolderLimits {
  // For the callers of one cgroup; of the root's, which most are in without version 2, `total`.
  EntryRate each = {.burst = 100'000, .per_second = 10'000};
  EntryRate total = {.burst = 400'000, .per_second = 40'000};  // for all of them
  std::size_t remembered = 32;                  // processes of each kind that are looked at first
  std::size_t cgroups_known = 64;               // whose budgets, and whose paths, are kept
  std::size_t descriptors = 10'000;             // of one process that are read in a search
  std::size_t descriptors_first = 2000;         // of one that is remembered
  std::size_t cgroup_directories = 5000;        // that are read to find a cgroup by its id
  double directory_entries = 10;                // what one of these costs
  Duration missing = std::chrono::seconds(10);  // a cgroup that was not found is not looked for
};

// The paths in the text of /proc/PID/cgroup: the third field of each line.
[[nodiscard]] std::vector<std::string> cgroups_in(std::string_view text);

class SocketHolders {
 public:
  // `proc` and `cgroup_root` are where these file systems are mounted; version 2 of cgroups may
  // also be mounted at `cgroup_root`/unified.
  explicit SocketHolders(const HolderLimits& limits = {}, fs::Path proc = "/proc",
                         fs::Path cgroup_root = "/sys/fs/cgroup");

  // The first process found that holds the socket with this inode, for a caller of this cgroup (its
  // id, or 0). Errors: not_found (no process whose descriptors we may read), exhausted (the search
  // was cut short: the budget is spent, or a process has more descriptors than are read).
  [[nodiscard]] Result<SocketHolder> find(std::uint64_t inode, std::uint64_t cgroup, MonoTime now);

  // Looks at this process first from now on; the one remembered longest ago is forgotten. Relays
  // (processes that connect on behalf of others) are counted apart, so that they do not displace
  // the rest.
  void remember(pid_t pid);
  void remember_relay(pid_t pid);

  // The path of a version 2 cgroup, relative to its mount. Nothing: the id is that of the root,
  // which tells nothing where version 1 is in use, or it was not found, or the budget is spent.
  [[nodiscard]] std::optional<std::string> cgroup_path(std::uint64_t id, MonoTime now);

  // The paths of our own cgroups.
  [[nodiscard]] std::vector<std::string> own_cgroups() const;

  // Whether the descriptors of process 1 can be read, and so those of every other process: it has
  // no fewer rights than any of them.
  [[nodiscard]] bool sees_all() const;

 private:
  struct Budget {
    double entries = 0;  // that may still be read now
    MonoTime refilled_at{};

    void refill(const EntryRate& rate, MonoTime now);
  };
  struct GroupBudget {
    std::uint64_t cgroup = 0;
    Budget budget;
  };
  // A cgroup that was looked for.
  struct Known {
    std::uint64_t id = 0;
    std::optional<std::string> path;
    MonoTime until{};  // without a path: when to look again
  };
  // How a look at the descriptors of one process ended.
  struct Look {
    bool found = false;
    bool whole = true;  // none was left out
    std::size_t entries = 0;
  };

  [[nodiscard]] Look look(pid_t pid, const std::string& link, std::size_t entries_max) const;
  [[nodiscard]] std::optional<pid_t> find_remembered(const std::string& link) const;
  [[nodiscard]] Result<pid_t> search(const std::string& link, Budget& own);
  [[nodiscard]] std::optional<std::string> search_cgroup(std::uint64_t id, Budget& own);
  [[nodiscard]] SocketHolder describe(pid_t pid) const;
  [[nodiscard]] Budget& budget_of(std::uint64_t cgroup, MonoTime now);
  [[nodiscard]] double left(const Budget& own) const;
  void spend(Budget& own, double entries);

  HolderLimits limits_;
  fs::Path proc_;
  fs::Path cgroup_root_;          // of version 2; empty if it is not mounted
  std::deque<pid_t> remembered_;  // the latest first
  std::deque<pid_t> relays_;      // the latest first
  Budget total_;
  std::deque<GroupBudget> budgets_;  // the latest first
  std::deque<Known> cgroups_;        // the latest first
};

}  // namespace holdfast::proc
