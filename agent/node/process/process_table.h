// The table of all attempts and their processes: starts and signals them and keeps their state.
// Nothing here waits. The owner waits for the processes of watched() and then calls refresh().

#pragma once

#include <map>
#include <string>
#include <vector>

#include "agent/node/process/settle.h"
#include "agent/node/state_dir.h"
#include "sync/runtime/actions.h"

namespace holdfast::agent::node {

// Which attempt: pod, container, number.
struct AttemptKey {
  std::string uid;
  std::string container;
  std::int32_t number = 0;

  auto operator<=>(const AttemptKey&) const = default;
};

struct Watch {
  AttemptKey attempt;
  proc::ProcessIdentity process;
};

class ProcessTable {
 public:
  // `shim` is the command to run a shim, to which its arguments are appended: {"/proc/self/exe",
  // "shim"}. `state` and `clock` outlive the table.
  ProcessTable(const StateDir& state, std::vector<std::string> shim, const Clock& clock)
      : state_(state), shim_(std::move(shim)), clock_(clock) {}

  // Reads all attempts from disk.
  void scan();

  // Never fails: a start that failed appears in observed() as an attempt that has ended.
  void start(const sync::runtime::StartContainer& start);
  // Records that outcome for a start that was given up before anything was done.
  void start_failed(const sync::runtime::StartContainer& start, std::string why);
  // Errors: as proc::signal_group(); not_found if the attempt does not run.
  [[nodiscard]] Status signal(const sync::runtime::SignalContainer& signal);
  // Forgets the attempts of a pod of which nothing runs; their files stay.
  void forget(const std::string& uid);

  // Updates one attempt from its files and processes, and reaps shims that have ended. Returns
  // whether the attempt has changed; false for an unknown attempt.
  bool refresh(const AttemptKey& key);

  // Truncates logs that are too large (log_limit.h). Errors: the last one that occurred.
  [[nodiscard]] Status limit_logs(std::uint64_t limit) const;

  [[nodiscard]] const sync::runtime::ObservedPods& observed() const { return observed_; }

  // The processes whose end must be waited for, with their attempts.
  [[nodiscard]] std::vector<Watch> watched() const;
  // The attempts that have not begun yet: their run.json is still to appear in dir().
  [[nodiscard]] std::vector<AttemptKey> beginning() const;
  // The leader of the attempt's process group, while it runs.
  [[nodiscard]] std::optional<proc::ProcessIdentity> process_of(const AttemptKey& key) const;
  // Whether this process started the attempt, so that its shim is among watched().
  [[nodiscard]] bool has_shim(const AttemptKey& key) const;
  [[nodiscard]] fs::Path dir(const AttemptKey& key) const;

 private:
  struct Entry {
    AttemptView view;
    std::optional<proc::ProcessIdentity> shim;  // started by this process
  };

  void look(const AttemptKey& key, Entry& entry);
  void reap_shims();
  void publish(const std::string& uid);
  void prune(const std::string& uid, const std::string& container);
  [[nodiscard]] Result<proc::ProcessIdentity> spawn_shim(
      const sync::runtime::StartContainer& start);

  const StateDir& state_;
  std::vector<std::string> shim_;
  const Clock& clock_;
  std::map<AttemptKey, Entry> entries_;
  std::vector<Watch> shims_;              // child processes not reaped yet
  sync::runtime::ObservedPods observed_;  // `entries_` in the form that the rules read
};

}  // namespace holdfast::agent::node
