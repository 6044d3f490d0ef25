// The agent's clock. Its wall time is never earlier than a time that is known to have passed, also
// in the last run. So expired certificates and tokens stay expired on a machine whose clock is
// wrong.
//
// wall() is the maximum of the system's clock and the floor; see sync/identity/wall_floor.h. The
// floor is stored in a file in the data directory, at most once an hour. Threading: the loop's
// thread only.

#pragma once

#include "platform/fs/file.h"
#include "platform/time.h"
#include "sync/identity/wall_floor.h"

namespace holdfast::agent {

class TrustedClock final : public Clock {
 public:
  // `clock` must outlive this. A file that cannot be read is logged and treated as missing.
  TrustedClock(const Clock& clock, fs::Path file);

  [[nodiscard]] MonoTime mono() const override { return clock_.mono(); }
  [[nodiscard]] WallTime wall() const override;

  // Report a known time; see WallFloor. Both also store the floor if it has moved enough.
  void raise_to(WallTime time);
  void set_from_server(WallTime time);
  // Stores the floor if it has moved by an hour since it was last stored.
  void keep();

 private:
  const Clock& clock_;
  fs::Path file_;
  sync::identity::WallFloor floor_;
};

}  // namespace holdfast::agent
