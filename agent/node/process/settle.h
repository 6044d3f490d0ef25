// Determines the state of an attempt from its files and processes, and resolves states that a crash
// has left open.
// If this program, the shim or both are killed between any two steps, one of these states is left:
//   no file, lock held          a shim is about to start it: wait
//   no file, lock free          it never began: write exit.json, which also stops a late shim
//   launch.json, shim alive     it is about to run: wait
//   run.json, shim alive        it runs
//   either, only process alive  it runs without its shim; its exit status will be unknown
//   either, both dead           it ended unobserved: write exit.json
//   exit.json                   it has ended

#pragma once

#include <optional>

#include "agent/node/process/attempt_files.h"

namespace holdfast::agent::node {

struct AttemptView {
  sync::runtime::Attempt attempt;
  std::optional<proc::ProcessIdentity> process = {};  // leads the group to signal
  std::optional<proc::ProcessIdentity> watched = {};  // when it ends, look again
};

// `shim` is the attempt's shim if this process started it: while it is alive, an attempt that has
// not begun counts as starting. Never fails: if the state cannot be resolved yet, for example
// because the disk is full, the view shows the present state with nothing to watch; call again
// later.
[[nodiscard]] AttemptView settle_attempt(const Clock& clock, const fs::Path& dir,
                                         std::int32_t number,
                                         const std::optional<proc::ProcessIdentity>& shim);

}  // namespace holdfast::agent::node
