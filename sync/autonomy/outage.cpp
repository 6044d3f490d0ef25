#include "sync/autonomy/outage.h"

#include <algorithm>
#include <utility>

#include "platform/check.h"

namespace holdfast::sync::autonomy {
namespace {

// Removes the request from a reason such as "GET /api/v1/nodes/a: connect to 10.0.0.1:6443:
// refused".
std::string_view without_request(std::string_view reason) {
  const std::size_t path = reason.find(" /");
  const std::size_t end = reason.find(": ");
  const bool has_request =
      path != reason.npos && end != reason.npos && path < end && reason.find(' ') == path;
  return has_request ? reason.substr(end + 2) : reason;
}

}  // namespace

Outage::Outage(const OutageConfig& config, MonoTime now)
    : config_(config), began_(now), interval_(config.repeat_min) {
  CHECK(config.repeat_min > Duration::zero());
  CHECK(config.repeat_max >= config.repeat_min);
}

void Outage::resume(MonoTime began) {
  began_ = began;
  was_reached_ = true;
  resumed_ = true;
}

void Outage::record(MonoTime now, LinkState state, std::optional<LinkFault> fault,
                    std::string_view reason) {
  monotonic_.check(now);
  if (fault) {
    fault_ = *fault;
    reason_ = without_request(reason).substr(0, config_.reason_bytes);
  }
  const bool was_connected = state_ == LinkState::connected;
  state_ = state;
  switch (state) {
    case LinkState::connected:
      if (!was_connected) connect(now);
      break;
    case LinkState::suspect:
      if (was_connected) began_ = now;
      break;
    case LinkState::offline:
      if (!began_) began_ = now;
      if (fault) miss(now);
      break;
    case LinkState::rejoining:
      break;
  }
}

void Outage::connect(MonoTime now) {
  const bool first = !was_reached_;
  if (first || is_reported_ || resumed_) notes_.push_back(note(OutageNote::Kind::back, now));
  began_.reset();
  was_reached_ = true;
  resumed_ = false;
  is_reported_ = false;
  reported_faults_.fill(false);
  due_ = MonoTime::max();
  interval_ = config_.repeat_min;
  replayed_ = {};
}

// Records a failure while offline.
void Outage::miss(MonoTime now) {
  const MonoTime patient_until = *began_ + config_.first_credentials;
  const bool starts = !was_reached_ && fault_ == LinkFault::credentials && now < patient_until;
  if (!is_reported_ && starts) {
    due_ = patient_until;
  } else if (!is_reported_) {
    report(OutageNote::Kind::lost, now);
  } else if (!reported_faults_.at(static_cast<std::size_t>(fault_))) {
    due_ = std::min(due_, std::max(now, reported_at_ + config_.repeat_min));
  }
}

void Outage::report(OutageNote::Kind kind, MonoTime now) {
  notes_.push_back(note(kind, now));
  is_reported_ = true;
  reported_faults_.at(static_cast<std::size_t>(fault_)) = true;
  reported_at_ = now;
  if (kind == OutageNote::Kind::still) interval_ = std::min(interval_ * 2, config_.repeat_max);
  due_ = now + interval_;
}

void Outage::settled(std::string_view refused) {
  if (refused.empty()) {
    ++replayed_.applied;
    return;
  }
  if (replayed_.refused == 0) replayed_.first_refused = refused.substr(0, config_.reason_bytes);
  ++replayed_.refused;
}

std::vector<OutageNote> Outage::take(MonoTime now) {
  monotonic_.check(now);
  if (notes_.empty() && due() <= now) {
    report(is_reported_ ? OutageNote::Kind::still : OutageNote::Kind::lost, now);
  }
  return std::exchange(notes_, {});
}

// While a rejoin is in progress nothing is due: its end is recorded in any case.
MonoTime Outage::due() const {
  if (!notes_.empty()) return MonoTime::min();
  return state_ == LinkState::rejoining ? MonoTime::max() : due_;
}

std::optional<MonoTime> Outage::began() const {
  return state_ == LinkState::connected ? std::nullopt : began_;
}

OutageNote Outage::note(OutageNote::Kind kind, MonoTime now) const {
  OutageNote made{.kind = kind,
                  .began = began_.value_or(now),
                  .at = now,
                  .was_reached = was_reached_,
                  .was_reported = is_reported_ || resumed_,
                  .resumed = resumed_,
                  .fault = fault_,
                  .reason = reason_};
  if (kind == OutageNote::Kind::back) made.replayed = replayed_;
  return made;
}

}  // namespace holdfast::sync::autonomy
