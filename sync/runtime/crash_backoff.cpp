#include "sync/runtime/crash_backoff.h"

#include <algorithm>

#include "platform/check.h"

namespace holdfast::sync::runtime {

namespace {

bool never_began(const Attempt& attempt) {
  return attempt.state == AttemptState::ended &&
         attempt.exit.kind == ContainerExit::Kind::never_began;
}

// Whether the last two attempts never began.
bool never_begins(const Attempts& attempts) {
  return attempts.size() > 1 && never_began(attempts.back()) &&
         never_began(attempts[attempts.size() - 2]);
}

}  // namespace

CrashBackoff backoff_after(const Attempts& attempts, const CrashBackoffConfig& config) {
  CHECK(!attempts.empty());
  const Attempt& ended = attempts.back();
  CHECK(ended.state == AttemptState::ended);
  const CrashBackoff at_once{MonoTime::min(), Duration(0), config.initial};
  if (!ended.ended) return at_once;
  // A single attempt that never began says nothing about the container.
  if (never_began(ended) && !never_begins(attempts)) {
    return {MonoTime::min(), Duration(0), ended.next_delay};
  }
  const bool ran_long = ended.started && *ended.ended - *ended.started > config.reset_after;
  if (ran_long || ended.next_delay <= Duration(0)) return at_once;
  const Duration next = std::min(2 * ended.next_delay, config.most);
  return {*ended.ended + ended.next_delay, ended.next_delay, next};
}

}  // namespace holdfast::sync::runtime
