#include "sync/autonomy/outage.h"

#include <algorithm>
#include <utility>

#include "platform/check.h"

namespace holdfast::sync {
namespace {

// "GET /api/v1/nodes/a: connect to 10.0.0.1:6443: refused": which request met it does not matter.
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

void Outage::hear(MonoTime now, LinkState state, std::optional<LinkFault> fault,
                  std::string_view reason) {
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
  if (first || told_ || resumed_) notes_.push_back(note(OutageNote::Kind::back, now));
  began_.reset();
  was_reached_ = true;
  resumed_ = false;
  told_ = false;
  told_faults_.fill(false);
  due_ = MonoTime::max();
  interval_ = config_.repeat_min;
  replayed_ = {};
}

// A failure while offline.
void Outage::miss(MonoTime now) {
  bool& told = told_faults_.at(static_cast<std::size_t>(fault_));
  if (!told_) {
    notes_.push_back(note(OutageNote::Kind::lost, now));
    told_ = true;
    told = true;
    told_at_ = now;
    due_ = now + interval_;
  } else if (!told) {
    due_ = std::min(due_, std::max(now, told_at_ + config_.repeat_min));
  }
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
  if (notes_.empty() && due() <= now) {
    notes_.push_back(note(OutageNote::Kind::still, now));
    told_faults_.at(static_cast<std::size_t>(fault_)) = true;
    told_at_ = now;
    interval_ = std::min(interval_ * 2, config_.repeat_max);
    due_ = now + interval_;
  }
  return std::exchange(notes_, {});
}

// A rejoin under way says by itself how it ends.
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
                  .was_told = told_ || resumed_,
                  .resumed = resumed_,
                  .fault = fault_,
                  .reason = reason_};
  if (kind == OutageNote::Kind::back) made.replayed = replayed_;
  return made;
}

}  // namespace holdfast::sync
