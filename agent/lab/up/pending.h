// Which ends of faults are still to come: a command that replaces a fault, or ends it early, also
// cancels the end that was planned for it. No I/O.

#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "agent/lab/scenario/scenario.h"

namespace holdfast::agent::lab::up {

class PendingEnds {
 public:
  // Call it with each event that begins or ends by a command. Earlier tickets for the same node and
  // the same part of it, its link for example, are no longer valid.
  [[nodiscard]] std::uint64_t ticket(const Action& action);

  // Whether no later event concerned the same part.
  [[nodiscard]] bool is_valid(const Action& action, std::uint64_t ticket) const;

 private:
  std::map<std::string, std::uint64_t> latest_;  // by part
  std::uint64_t last_ = 0;
};

}  // namespace holdfast::agent::lab::up
