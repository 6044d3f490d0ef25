#include "sync/runtime/crash_backoff.h"

#include <algorithm>

#include "platform/check.h"

namespace holdfast::sync {

CrashBackoff backoff_after(const Attempt& ended, const CrashBackoffConfig& config) {
  CHECK(ended.state == AttemptState::ended);
  const CrashBackoff at_once{MonoTime::min(), Duration(0), config.initial};
  if (!ended.ended) return at_once;
  // What never began tells nothing about the container: neither wait for it nor count it.
  if (ended.exit.kind == ContainerExit::Kind::never_began) {
    return {MonoTime::min(), Duration(0), ended.next_delay};
  }
  const bool ran_long = ended.started && *ended.ended - *ended.started > config.reset_after;
  if (ran_long || ended.next_delay <= Duration(0)) return at_once;
  const Duration next = std::min(2 * ended.next_delay, config.most);
  return {*ended.ended + ended.next_delay, ended.next_delay, next};
}

}  // namespace holdfast::sync
