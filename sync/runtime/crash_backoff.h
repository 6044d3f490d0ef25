// When a container that has ended may start again.
//
// As the kubelet: the first restart comes at once, the second at the earliest `initial` after the
// end before it, then the delay doubles up to `most`; a run of more than `reset_after` starts over.

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

// `ended` is the last attempt of the container and has ended. After a reboot the delay starts over,
// and the start is due at once: MonoTime::min().
[[nodiscard]] CrashBackoff backoff_after(const Attempt& ended, const CrashBackoffConfig& config);

}  // namespace holdfast::sync
