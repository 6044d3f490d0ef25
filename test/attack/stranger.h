// Processes that attack: forked from the suite, as another user, in a pod's cgroup, or both.
//
// What they do runs in the child and returns text, which the suite judges. A child that takes
// longer than its limit is killed.

#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

#include "test/attack/wire.h"

namespace holdfast::attack {

inline constexpr uid_t nobody = 65534;

// What a process becomes before it acts.
struct As {
  uid_t uid = 0;
  std::string cgroup = {};  // the first words of folder names that it moves to; see PodCgroup
  bool no_capabilities = false;
  Duration limit = 30s;
};

using Act = std::function<std::string()>;
// Says something to the suite while going on.
using Say = std::function<void(const std::string&)>;

// Runs `act` and returns its text, or "failed: " and why.
[[nodiscard]] std::string as(const As& who, const Act& act);
[[nodiscard]] std::string as_nobody(const Act& act, Duration limit = 30s);
// One request as nobody.
[[nodiscard]] Answer ask_as_nobody(std::uint16_t port, const Ask& question);

// A process that goes on attacking until this ends.
class Stranger {
 public:
  Stranger(const As& who, const std::function<void(const Say&)>& act);
  ~Stranger();
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;

  // The next line that it says; empty: none came in time, or it has ended.
  [[nodiscard]] std::string line(Duration limit = 30s);

 private:
  pid_t pid_ = -1;
  Socket pipe_;
  std::string heard_;
};

}  // namespace holdfast::attack
