#include "sync/identity/rotation.h"

#include <algorithm>

#include "platform/check.h"

namespace holdfast::sync::identity {

using rotate::Actions;
using rotate::Credentials;

Rotation::Rotation(const RotationConfig& config, Random& random, std::optional<Validity> held,
                   MonoTime now)
    : config_(config), random_(random), backoff_(config.backoff), not_before_(now), deadline_(now) {
  CHECK(0 < config.earliest && config.earliest <= config.latest && config.latest < 1);
  CHECK(config.poll_first > Duration::zero() && config.recheck > Duration::zero());
  hold(held);
}

void Rotation::hold(const std::optional<Validity>& held) {
  held_ = held;
  fraction_ = config_.earliest + (config_.latest - config_.earliest) * random_.unit();
}

std::optional<WallTime> Rotation::due() const {
  if (!held_) return std::nullopt;
  const Duration life = std::max(held_->not_after - held_->not_before, Duration::zero());
  return held_->not_before + std::chrono::duration_cast<Duration>(life * fraction_);
}

Actions Rotation::step(MonoTime now, WallTime wall, rotate::Input input) {
  monotonic_.check(now);
  if (auto* submitted = std::get_if<rotate::Submitted>(&input)) {
    CHECK(state_ == State::submitting);
    return on_submitted(now, std::move(submitted->name));
  }
  if (const auto* not_submitted = std::get_if<rotate::NotSubmitted>(&input)) {
    CHECK(state_ == State::submitting);
    const Error& error = not_submitted->error;
    if (error.code == Errc::denied) {
      (with_ == Credentials::own ? refused_ : bootstrap_bad_) = true;
      if (with_ == Credentials::own) bootstrap_bad_ = false;
    }
    return give_up(now, config_.pause, "certificate request not sent: " + error.what);
  }
  if (const auto* looked = std::get_if<rotate::Polled>(&input)) {
    CHECK(state_ == State::polling);
    return on_polled(now, looked->state);
  }
  if (const auto* failed = std::get_if<rotate::PollFailed>(&input)) {
    CHECK(state_ == State::polling);
    return on_poll_failed(now, failed->error);
  }
  if (const auto* adopted = std::get_if<rotate::Adopted>(&input)) {
    CHECK(state_ == State::adopting);
    return on_adopted(now, wall, adopted->validity);
  }
  if (const auto* unusable = std::get_if<rotate::Unusable>(&input)) {
    CHECK(state_ == State::adopting);
    return give_up(now, config_.denied_pause,
                   "the issued certificate cannot be used: " + unusable->error.what);
  }
  if (std::holds_alternative<rotate::Refused>(input)) return on_refused(now, wall);
  return wait_or_submit(now, wall);
}

Credentials Rotation::credentials(WallTime wall) const {
  if (!config_.bootstraps) return Credentials::own;
  const bool own_is_good = held_ && wall < held_->not_after && !refused_;
  if (own_is_good) return Credentials::own;
  // If neither is good, the old certificate is tried again: our time, or the server's judgement,
  // may have been wrong.
  return held_ && bootstrap_bad_ ? Credentials::own : Credentials::bootstrap;
}

Actions Rotation::wait_or_submit(MonoTime now, WallTime wall) {
  if (state_ == State::pending && now >= deadline_) {
    state_ = State::polling;
    deadline_ = MonoTime::max();
    return {rotate::PollRequest{name_, with_}};
  }
  if (state_ != State::holding) return {};
  const bool needed = refused_ || !held_ || wall >= *due();
  if (needed && now >= not_before_) {
    with_ = credentials(wall);
    state_ = State::submitting;
    deadline_ = MonoTime::max();
    return {rotate::SubmitRequest{with_}};
  }
  deadline_ = now + config_.recheck;
  if (needed) {
    deadline_ = std::min(deadline_, not_before_);
  } else if (*due() - wall < config_.recheck) {
    deadline_ = std::max(now + (*due() - wall), not_before_);
  }
  return {};
}

void Rotation::poll_later(MonoTime now) {
  state_ = State::pending;
  deadline_ = now + poll_after_;
  poll_after_ = std::min(poll_after_ * 2, config_.poll_most);
}

Actions Rotation::on_submitted(MonoTime now, std::string name) {
  name_ = std::move(name);
  poll_after_ = config_.poll_first;
  poll_later(now);
  return {};
}

Actions Rotation::on_polled(MonoTime now, const CsrState& state) {
  switch (state.status) {
    case CsrState::Status::pending:
      poll_later(now);
      return {};
    case CsrState::Status::issued:
      state_ = State::adopting;
      return {rotate::Adopt{state.certificate_pem}};
    case CsrState::Status::denied:
      return give_up(now, config_.denied_pause, name_ + " was denied: " + state.reason);
    case CsrState::Status::failed:
      return give_up(now, config_.denied_pause, name_ + " failed: " + state.reason);
  }
  UNREACHABLE();
}

Actions Rotation::on_poll_failed(MonoTime now, const Error& error) {
  if (error.code == Errc::not_found) {
    return give_up(now, config_.pause, name_ + " no longer exists and was never decided");
  }
  // The request still exists on the server, so keep polling it instead of making a second one.
  if (error.code != Errc::denied) {
    poll_later(now);
    return {};
  }
  (with_ == Credentials::own ? refused_ : bootstrap_bad_) = true;
  return give_up(now, config_.pause, name_ + ": " + error.what);
}

Actions Rotation::on_adopted(MonoTime now, WallTime wall, const Validity& validity) {
  hold(validity);
  state_ = State::holding;
  refused_ = false;
  bootstrap_bad_ = false;
  // If the new certificate is already due for replacement, this pause prevents a busy loop.
  not_before_ = now + config_.pause + backoff_.next(now, random_);
  return wait_or_submit(now, wall);
}

Actions Rotation::on_refused(MonoTime now, WallTime wall) {
  if (!held_) return {};
  refused_ = true;
  return wait_or_submit(now, wall);
}

Actions Rotation::give_up(MonoTime now, Duration pause, std::string why) {
  state_ = State::holding;
  not_before_ = now + pause + backoff_.next(now, random_);
  deadline_ = not_before_;
  return {rotate::Warn{std::move(why)}};
}

}  // namespace holdfast::sync::identity
