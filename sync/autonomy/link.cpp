#include "sync/autonomy/link.h"

#include <algorithm>

#include "platform/check.h"

namespace holdfast::sync {

std::string_view to_string(LinkState state) {
  switch (state) {
    case LinkState::connected:
      return "connected";
    case LinkState::suspect:
      return "suspect";
    case LinkState::offline:
      return "offline";
    case LinkState::rejoining:
      return "rejoining";
  }
  UNREACHABLE();
}

Link::Link(const LinkConfig& config, Random& random, MonoTime now)
    : config_(config),
      random_(random),
      since_(now),
      probe_due_(now),
      backoff_(config.probe_backoff_min) {
  CHECK(config.failures_to_offline > 0);
  CHECK(config.probe_interval > Duration::zero());
  CHECK(config.probe_deadline > Duration::zero());
  CHECK(config.probe_backoff_min > Duration::zero());
  CHECK(config.probe_backoff_max >= config.probe_backoff_min);
}

bool Link::hear(MonoTime now, MonoTime began, Evidence evidence, std::string_view reason) {
  const bool good = evidence == Evidence::answered;
  switch (state_) {
    case LinkState::connected:
    case LinkState::suspect:
      if (evidence == Evidence::overloaded) return false;
      if (good) {
        failures_ = 0;
        if (state_ == LinkState::connected) return false;
        enter(owes_ ? LinkState::rejoining : LinkState::connected, now, reason);
        return true;
      }
      // Requests that were under way together fail together; that is one failure, not many.
      if (began < since_) return false;
      ++failures_;
      enter(failures_ >= config_.failures_to_offline ? LinkState::offline : LinkState::suspect, now,
            reason);
      return true;
    case LinkState::offline:
      if (!good) {
        // Clients that try in vain must not put the probe off.
        if (probe_under_way_ && began >= since_) schedule_retry(now);
        return false;
      }
      if (began < since_) return false;
      enter(LinkState::rejoining, now, reason);
      return true;
    case LinkState::rejoining:
      return false;  // The rejoin itself says how it went.
  }
  UNREACHABLE();
}

void Link::doubt(MonoTime now) {
  if (state_ == LinkState::connected) probe_due_ = std::min(probe_due_, now);
}

void Link::rejoined(MonoTime now) {
  CHECK(state_ == LinkState::rejoining);
  owes_ = false;
  enter(LinkState::connected, now, "rejoined");
}

void Link::rejoin_failed(MonoTime now, std::string_view reason) {
  CHECK(state_ == LinkState::rejoining);
  enter(LinkState::offline, now, reason);
}

void Link::probing(MonoTime now) {
  switch (state_) {
    case LinkState::connected:
      probe_due_ = now + config_.probe_interval;
      break;
    case LinkState::suspect:
    case LinkState::offline:
      probe_due_ = now + config_.probe_deadline;
      probe_under_way_ = true;
      break;
    case LinkState::rejoining:
      break;
  }
}

void Link::enter(LinkState state, MonoTime now, std::string_view reason) {
  const LinkState before = state_;
  state_ = state;
  since_ = now;
  reason_ = reason;
  probe_under_way_ = false;
  switch (state) {
    case LinkState::connected:
      failures_ = 0;
      backoff_ = config_.probe_backoff_min;
      probe_due_ = now + config_.probe_interval;
      break;
    case LinkState::suspect:
      probe_due_ = now;
      break;
    case LinkState::offline:
      failures_ = 0;
      // A rejoin that fails keeps its backoff: the link flaps.
      if (before != LinkState::rejoining) backoff_ = config_.probe_backoff_min;
      schedule_retry(now);
      break;
    case LinkState::rejoining:
      probe_due_ = MonoTime::max();
      break;
  }
}

void Link::schedule_retry(MonoTime now) {
  probe_under_way_ = false;
  // Half of the wait is certain, so that jitter never turns a backoff into a busy loop.
  probe_due_ = now + backoff_ / 2 + random_.jitter(backoff_ / 2);
  backoff_ = std::min(backoff_ * 2, config_.probe_backoff_max);
}

}  // namespace holdfast::sync
