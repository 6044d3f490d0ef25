// The processes of all attempts: what is known of them, and the deeds done to them.
//
// Nothing here waits. Whoever owns it awaits what watched() names and then calls refresh().

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
  // `shim` is the command that is followed by the shim's arguments: {"/proc/self/exe", "shim"}.
  ProcessTable(const StateDir& state, std::vector<std::string> shim)
      : state_(state), shim_(std::move(shim)) {}

  // Reads everything that is on disk.
  void scan();

  // Never fails: a start that could not be carried out is observed as an attempt that has ended.
  void start(const sync::StartContainer& start);
  // The same for one that was given up before anything was done.
  void start_failed(const sync::StartContainer& start, std::string why);
  // Errors: as proc::signal_group(); not_found when it does not run.
  [[nodiscard]] Status signal(const sync::SignalContainer& signal);
  // Forgets the attempts of a pod of which nothing runs; their files stay.
  void forget(const std::string& uid);

  // Looks again at one attempt, and collects shims that have ended. Whether anything has changed;
  // an attempt that is known no more has not.
  bool refresh(const AttemptKey& key);

  // Cuts logs that have grown too large: log_limit.h. Errors: the last one.
  [[nodiscard]] Status limit_logs(std::uint64_t limit) const;

  [[nodiscard]] const sync::ObservedPods& observed() const { return observed_; }

  // The processes whose end changes something, and for which attempt.
  [[nodiscard]] std::vector<Watch> watched() const;
  // The attempts that are about to begin, and their directories: run.json appears there.
  [[nodiscard]] std::vector<AttemptKey> beginning() const;
  // Whether it was started by us, so that the end of its shim is among watched().
  [[nodiscard]] bool has_shim(const AttemptKey& key) const;
  [[nodiscard]] fs::Path dir(const AttemptKey& key) const;

 private:
  struct Entry {
    AttemptView view;
    std::optional<proc::ProcessIdentity> shim;  // that we have started
  };

  void look(const AttemptKey& key, Entry& entry);
  void reap_shims();
  void publish(const std::string& uid);
  void prune(const std::string& uid, const std::string& container);
  [[nodiscard]] Result<proc::ProcessIdentity> spawn_shim(const sync::StartContainer& start);

  const StateDir& state_;
  std::vector<std::string> shim_;
  std::map<AttemptKey, Entry> entries_;
  std::vector<Watch> shims_;     // our children that were not reaped yet
  sync::ObservedPods observed_;  // the same, as the rules read it
};

}  // namespace holdfast::agent::node
