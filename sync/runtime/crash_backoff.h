// When a container that has ended may start again.
//
// As the kubelet: the first restart comes at once, the second at the earliest `initial` after the
// end before it, then the delay doubles up to `most`; a run of more than `reset_after` starts over.
// A start that never began is repeated at once, because a crash of the agent leaves one; several
// in a row are failures and are delayed in the same way.

#pragma once

#include "platform/time.h"
#include "sync/runtime/attempt.h"

namespace holdfast::sync {

struct CrashBackoffConfig {
  Duration initial = std::chrono::seconds(10);
  Duration most = std::chrono::minutes(5);
  Duration reset_after = std::chrono::minutes(10);
};

struct CrashBackoff {
  MonoTime start_at;    // not before
  Duration delay;       // how long that is after the end
  Duration next_delay;  // for the attempt that then begins

  bool operator==(const CrashBackoff&) const = default;
};

// `attempts` are the container's, oldest first; the last one has ended. After a reboot the delay
// starts over, and the start is due at once: MonoTime::min().
[[nodiscard]] CrashBackoff backoff_after(const Attempts& attempts,
                                         const CrashBackoffConfig& config);

}  // namespace holdfast::sync
