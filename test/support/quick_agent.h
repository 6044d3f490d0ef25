// Flags for a holdfast-edge in tests that wait for its actions: they shorten its intervals to about
// a second or less.
//
// Includes no file of the project, so that test/attack may use it.

#pragma once

#include <string>
#include <vector>

namespace holdfast::test {

// Flags that shorten the intervals of lease, probes, rejoin and cache.
inline std::vector<std::string> quick_agent_flags() {
  return {"--lease-renew-interval=1s", "--lease-duration=4s",       "--probe-deadline=500ms",
          "--probe-backoff-min=100ms", "--probe-backoff-max=300ms", "--rejoin-jitter=0s",
          "--flush-interval=200ms",    "--bookmark-interval=300ms"};
}

}  // namespace holdfast::test
