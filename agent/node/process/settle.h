// Finds out how an attempt stands, and settles what a crash has left open.
//
// If this program, the shim or both are killed between any two steps, one of these is left:
//   nothing, lock held          a shim is about to start it: wait
//   nothing, lock free          it never began; exit.json says so, and a shim that comes late obeys
//   launch.json, shim alive     it is about to run: wait
//   run.json, shim alive        it runs
//   either, process alive       it runs without its shim; its exit status will be unknown
//   either, both dead           it ended unseen; exit.json says so
//   exit.json                   it has ended

#pragma once

#include <optional>

#include "agent/node/process/attempt_files.h"

namespace holdfast::agent::node {

struct AttemptView {
  sync::Attempt attempt;
  std::optional<proc::ProcessIdentity> process = {};  // leads the group to signal
  std::optional<proc::ProcessIdentity> watched = {};  // when it ends, look again
};

// `shim` is the one we started for it ourselves, if we did: as long as it lives, an attempt that
// has not begun is under way and not abandoned. Never fails: what cannot be decided yet, because
// the disk is full, say, is told as it stands, with nothing to watch; look again later.
[[nodiscard]] AttemptView settle_attempt(const fs::Path& dir, std::int32_t number,
                                         const std::optional<proc::ProcessIdentity>& shim);

}  // namespace holdfast::agent::node
