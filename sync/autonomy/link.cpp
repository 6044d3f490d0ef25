#include "sync/autonomy/link.h"

#include <algorithm>

#include "platform/check.h"

namespace holdfast::sync::autonomy {

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
      started_(now),
      since_(now),
      probe_due_(now),
      renewed_at_(now),
      backoff_(config.probe_backoff_min) {
  CHECK(config.failures_to_offline > 0);
  CHECK(config.probe_interval > Duration::zero());
  CHECK(config.probe_deadline > Duration::zero());
  CHECK(config.probe_backoff_min > Duration::zero());
  CHECK(config.probe_backoff_max >= config.probe_backoff_min);
}

bool Link::record(MonoTime now, MonoTime began, Evidence evidence, std::string_view reason,
                  Duration retry_after) {
  if (evidence == Evidence::failed) return record_failure(now, began, reason);
  if (evidence == Evidence::overloaded) {
    if (!overloaded_since_) overloaded_since_ = now;
    no_probe_before_ =
        std::max(no_probe_before_, now + std::min(retry_after, config_.retry_after_max));
    probe_due_ = std::max(probe_due_, no_probe_before_);
    record_failed_probe(now, began, reason);
    return false;
  }
  // rejoined() or rejoin_failed() ends this state.
  if (state_ == LinkState::rejoining) return false;
  if (state_ == LinkState::offline && began < since_) return false;
  failures_ = 0;
  overloaded_since_.reset();
  if (state_ == LinkState::connected) return false;
  const bool straight = state_ == LinkState::suspect && !has_unsent_writes_;
  enter(straight ? LinkState::connected : LinkState::rejoining, now, reason);
  return true;
}

bool Link::record_failure(MonoTime now, MonoTime began, std::string_view reason) {
  switch (state_) {
    case LinkState::connected:
    case LinkState::suspect:
      // Requests that were in flight together fail together; that counts as one failure.
      if (began < since_) return false;
      ++failures_;
      enter(failures_ >= config_.failures_to_offline ? LinkState::offline : LinkState::suspect, now,
            reason);
      return true;
    case LinkState::offline:
      record_failed_probe(now, began, reason);
      return false;
    case LinkState::rejoining:
      return false;
  }
  UNREACHABLE();
}

// Only the failure of a probe schedules the next one: failing requests of clients must not delay
// it.
void Link::record_failed_probe(MonoTime now, MonoTime began, std::string_view reason) {
  if (!probe_under_way_ || began < since_) return;
  if (state_ == LinkState::offline) reason_ = reason;
  schedule_retry(now);
}

void Link::probe_now(MonoTime now) {
  if (state_ != LinkState::connected) return;
  is_hastened_ = true;
  const MonoTime soonest = std::max(probed_at_ + config_.probe_deadline, no_probe_before_);
  probe_due_ = std::min(probe_due_, std::max(now, soonest));
}

bool Link::network_changed(MonoTime now) {
  if (state_ != LinkState::offline) return false;
  if (changed_at_ && now < *changed_at_ + config_.change_pause) return false;
  changed_at_ = now;
  backoff_ = config_.probe_backoff_min;
  // What a probe that is under way meets may be from before the change.
  schedule_retry(now);
  return true;
}

Duration Link::rejoin_delay_max(MonoTime now, Duration most) const {
  return was_connected_ ? most : std::min(most, now - started_);
}

MonoTime Link::renewal_due() const {
  return std::max(renewed_at_ + config_.probe_interval, no_probe_before_);
}

void Link::renewed(MonoTime now, MonoTime sent) {
  if (sent <= renewed_at_) return;
  renewed_at_ = std::min(sent, now);
  if (state_ == LinkState::connected && !is_hastened_) probe_due_ = std::max(now, renewal_due());
}

void Link::rejoined(MonoTime now) {
  CHECK(state_ == LinkState::rejoining);
  has_unsent_writes_ = false;
  enter(LinkState::connected, now, "rejoined");
}

void Link::rejoin_failed(MonoTime now, std::string_view reason) {
  CHECK(state_ == LinkState::rejoining);
  enter(LinkState::offline, now, reason);
}

void Link::probing(MonoTime now) {
  is_hastened_ = false;
  switch (state_) {
    case LinkState::connected:
      probed_at_ = now;
      probe_due_ = std::max(now + config_.probe_interval, no_probe_before_);
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
  // What is under way renews the lease, if it is granted.
  const MonoTime soonest = probe_under_way_ ? now + config_.probe_deadline : now;
  state_ = state;
  since_ = now;
  reason_ = reason;
  probe_under_way_ = false;
  overloaded_since_.reset();
  switch (state) {
    case LinkState::connected:
      was_connected_ = true;
      failures_ = 0;
      backoff_ = config_.probe_backoff_min;
      is_hastened_ = false;
      probe_due_ = std::max(soonest, renewal_due());
      break;
    case LinkState::suspect:
      probe_due_ = now;
      break;
    case LinkState::offline:
      failures_ = 0;
      // The backoff grows on if a rejoin failed, because the link is unstable then.
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
  // Half of the wait is fixed, so that jitter never turns the backoff into a busy loop.
  probe_due_ = std::max(now + backoff_ / 2 + random_.jitter(backoff_ / 2), no_probe_before_);
  backoff_ = std::min(backoff_ * 2, config_.probe_backoff_max);
}

}  // namespace holdfast::sync::autonomy
