// The clock that the agent lives by: never earlier than what was surely known, also in the last
// run.
//
// wall() is max(the system's calendar, the floor); see sync/identity/wall_floor.h. The floor is a
// file in the data directory, written at most once an hour. Threading: the loop's thread.

#pragma once

#include "platform/fs/file.h"
#include "platform/time.h"
#include "sync/identity/wall_floor.h"

namespace holdfast::agent {

class JudgedClock final : public Clock {
 public:
  // `clock` outlives this. A file that cannot be read is as good as none, and said so in the log.
  JudgedClock(const Clock& clock, fs::Path file);

  [[nodiscard]] MonoTime mono() const override { return clock_.mono(); }
  [[nodiscard]] WallTime wall() const override;

  // As WallFloor has them.
  void at_least(WallTime time);
  void told(WallTime time);
  // Writes the floor if it has moved enough.
  void keep();

 private:
  const Clock& clock_;
  fs::Path file_;
  sync::WallFloor floor_;
};

}  // namespace holdfast::agent
