// Decides when a container that has ended may start again. Pure.
//
// As in the kubelet, the first restart is immediate. The second starts at least `initial` after the
// previous end; then the delay doubles up to `most`. A run longer than `reset_after` resets the
// delay. An attempt that never began is repeated at once, because a crash of the agent can leave
// one; several in a row count as failures and are delayed like other ends.

#pragma once

#include "platform/time.h"
#include "sync/runtime/attempt.h"

namespace holdfast::sync::runtime {

struct CrashBackoffConfig {
  Duration initial = std::chrono::seconds(10);
  Duration most = std::chrono::minutes(5);
  Duration reset_after = std::chrono::minutes(10);
};

struct CrashBackoff {
  MonoTime start_at;    // MonoTime::min(): at once
  Duration delay;       // time from the end of the last attempt to start_at
  Duration next_delay;  // backoff after the attempt that starts next

  bool operator==(const CrashBackoff&) const = default;
};

// `attempts` are the container's, oldest first; the last one must have ended. After a reboot the
// delay is reset and the start is due at once.
[[nodiscard]] CrashBackoff backoff_after(const Attempts& attempts,
                                         const CrashBackoffConfig& config);

}  // namespace holdfast::sync::runtime
