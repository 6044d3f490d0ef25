// Attacking processes: forked from the suite, as another user, in a pod's cgroup, or both.
//
// The attack runs in the child and returns text, which the suite checks. A child that exceeds its
// time limit is killed.

#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

#include "test/attack/wire.h"

namespace holdfast::attack {

inline constexpr uid_t nobody = 65534;

// The identity that a child process takes before it attacks.
struct RunAs {
  uid_t uid = 0;
  std::string cgroup = {};  // folders of a cgroup to join; see PodCgroup::folders()
  bool no_capabilities = false;
  Duration limit = 30s;
};

using Act = std::function<std::string()>;
// Sends a line to the suite while the attack continues.
using Say = std::function<void(const std::string&)>;

// Runs `act` in a child. Returns its text, or "failed: " and the reason.
[[nodiscard]] std::string run_as(const RunAs& who, const Act& act);
[[nodiscard]] std::string run_as_nobody(const Act& act, Duration limit = 30s);
// One request as the user nobody.
[[nodiscard]] Answer ask_as_nobody(std::uint16_t port, const Ask& question);

// A process that attacks until this object is destroyed.
class AttackerProcess {
 public:
  AttackerProcess(const RunAs& who, const std::function<void(const Say&)>& act);
  ~AttackerProcess();
  AttackerProcess(const AttackerProcess&) = delete;
  AttackerProcess& operator=(const AttackerProcess&) = delete;

  // The next line from the process; empty if none came in time or it has ended.
  [[nodiscard]] std::string line(Duration limit = 30s);

 private:
  pid_t pid_ = -1;
  Socket pipe_;
  std::string heard_;
};

}  // namespace holdfast::attack
