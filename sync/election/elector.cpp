#include "sync/election/elector.h"

#include <algorithm>
#include <utility>

#include "platform/check.h"

namespace holdfast::sync::election {

namespace {

using std::chrono::seconds;

// client-go's JitterFactor: followers try again after 1 to 2.2 times retry_period, and
// renew_deadline must be longer than 1.2 times retry_period.
constexpr double jitter_factor = 1.2;

std::int32_t whole_seconds(Duration duration) {
  return static_cast<std::int32_t>(std::chrono::duration_cast<seconds>(duration).count());
}

WallTime to_micros(WallTime time) { return std::chrono::floor<std::chrono::microseconds>(time); }

}  // namespace

Status check(const ElectionConfig& config) {
  const auto complain = [](const char* what) { return fail(Errc::invalid, what); };
  if (config.lease_duration < seconds(1)) {
    return complain("leaseDuration must be at least one second");
  }
  if (config.renew_deadline <= Duration::zero()) {
    return complain("renewDeadline must be greater than zero");
  }
  if (config.retry_period <= Duration::zero()) {
    return complain("retryPeriod must be greater than zero");
  }
  // The lease contains whole seconds.
  if (seconds(whole_seconds(config.lease_duration)) <= config.renew_deadline) {
    return complain("leaseDuration must be greater than renewDeadline");
  }
  const std::chrono::duration<double, std::nano> least = config.retry_period * jitter_factor;
  if (config.renew_deadline <= least) {
    return complain("renewDeadline must be greater than retryPeriod*JitterFactor");
  }
  return {};
}

Elector::Elector(ElectionConfig config, Random& random)
    : config_(std::move(config)), random_(random) {
  CHECK(check(config_).has_value() && !config_.identity.empty());
}

Actions Elector::step(MonoTime now, WallTime wall, Input input) {
  monotonic_.check(now);
  Actions actions;
  if (state_ == State::ended) return actions;
  std::visit([this, now, wall, &actions](const auto& one) { on(now, wall, one, actions); }, input);
  return actions;
}

MonoTime Elector::deadline() const {
  if (state_ == State::waiting) return next_try_;
  if (state_ == State::idle || state_ == State::ended) return MonoTime::max();
  return give_up_;
}

MonoTime Elector::may_act_until() const {
  return leads_ ? renewed_at_ + config_.renew_deadline : MonoTime::min();
}

Status Elector::health(MonoTime now, Duration tolerance) const {
  if (!leads_ || now - observed_at_ <= config_.lease_duration + tolerance) return {};
  return fail(Errc::timeout, "failed election to renew leadership on lease " + config_.name);
}

void Elector::on(MonoTime now, WallTime wall, const Started& /*started*/, Actions& actions) {
  CHECK(state_ == State::idle);
  attempt(now, wall, actions);
}

void Elector::on(MonoTime now, WallTime wall, const Found& found, Actions& actions) {
  CHECK(state_ == State::reading);
  gone_ = false;
  note_version(found.lease, actions);
  if (state_ == State::ended) return;
  lease_ = found.lease;
  observe(now, found.lease, actions);
  if (state_ == State::ended) return;
  if (releasing_) {
    release(now, wall, actions);
  } else if (held_by_other(now)) {
    failed(now, "", actions);
  } else {
    write(now, wall, actions);
  }
}

void Elector::on(MonoTime now, WallTime wall, const Missing& /*missing*/, Actions& actions) {
  CHECK(state_ == State::reading);
  lease_.reset();
  if (releasing_) {
    stopped(actions);
    return;
  }
  // The holder may not know yet, and may have renewed the lease just before it was deleted.
  if (!std::exchange(gone_, true)) observed_at_ = now;
  if (held_by_other(now)) {
    failed(now, "the lease is gone, but was just held by " + observed_->holder, actions);
  } else {
    write(now, wall, actions);
  }
}

void Elector::on(MonoTime now, WallTime /*wall*/, const Written& written, Actions& actions) {
  CHECK(state_ == State::creating || state_ == State::updating);
  if (releasing_) {
    stopped(actions);
    return;
  }
  gone_ = false;
  note_version(written.lease, actions);
  if (state_ == State::ended) return;
  lease_ = written.lease;
  observed_ = record_of(written.lease);
  observed_at_ = now;
  renewed_at_ = sent_at_;
  succeeded(now, actions);
}

void Elector::on(MonoTime now, WallTime /*wall*/, const Failed& error, Actions& actions) {
  CHECK(state_ != State::waiting && state_ != State::idle);
  if (releasing_) {
    actions.emplace_back(Warn{"lease not released: " + error.error.what});
    stopped(actions);
    return;
  }
  if (state_ == State::updating && std::exchange(optimistic_, false) && now < give_up_) {
    // The lease was changed by somebody else, or our last write succeeded although it seemed to
    // fail.
    read(now, actions);
    return;
  }
  failed(now, error.error.what, actions);
}

void Elector::on(MonoTime now, WallTime wall, const TimePassed& /*passed*/, Actions& actions) {
  if (leads_ && now >= give_up_) {
    lost("not renewed within " + format_duration(config_.renew_deadline), actions);
  } else if (state_ == State::waiting && now >= next_try_) {
    attempt(now, wall, actions);
  }
}

void Elector::on(MonoTime now, WallTime wall, const LeaseReleased& /*released*/, Actions& actions) {
  if (state_ == State::waiting && !leads_) attempt(now, wall, actions);
}

void Elector::on(MonoTime now, WallTime /*wall*/, const Stopping& /*stopping*/, Actions& actions) {
  if (!leads_) {
    stopped(actions);
    return;
  }
  // The owner cancelled the request in flight, so its outcome is unknown: read the lease first.
  releasing_ = true;
  give_up_ = MonoTime::max();
  read(now, actions);
}

// As client-go's tryAcquireOrRenew().
void Elector::attempt(MonoTime now, WallTime wall, Actions& actions) {
  tried_at_ = now;
  if (leads_ && give_up_ == MonoTime::max()) give_up_ = now + config_.renew_deadline;
  const bool valid = observed_ && observed_at_ + observed_->duration > now;
  optimistic_ = leads_ && valid && lease_;
  if (optimistic_) {
    write(now, wall, actions);
  } else {
    read(now, actions);
  }
}

void Elector::read(MonoTime now, Actions& actions) {
  state_ = State::reading;
  actions.emplace_back(Read{request_deadline(now)});
}

void Elector::write(MonoTime now, WallTime wall, Actions& actions) {
  Lease lease = lease_.value_or(Lease{});
  lease.metadata.name = config_.name;
  lease.metadata.namespace_name = config_.namespace_name;
  const WallTime time = to_micros(wall);
  if (!lease_) {
    lease.spec.acquire_time = time;
    lease.spec.lease_transitions = 0;
  } else if (lease.spec.holder_identity != config_.identity) {
    lease.spec.acquire_time = time;
    lease.spec.lease_transitions = lease.spec.lease_transitions.value_or(0) + 1;
  }
  lease.spec.holder_identity = config_.identity;
  lease.spec.lease_duration_seconds = whole_seconds(config_.lease_duration);
  lease.spec.renew_time = time;
  sent_at_ = now;
  if (lease_) {
    state_ = State::updating;
    actions.emplace_back(Update{std::move(lease), request_deadline(now)});
  } else {
    state_ = State::creating;
    actions.emplace_back(Create{std::move(lease), request_deadline(now)});
  }
}

void Elector::release(MonoTime now, WallTime wall, Actions& actions) {
  Lease lease = *lease_;
  lease.spec.holder_identity.clear();
  lease.spec.lease_duration_seconds = 1;
  lease.spec.acquire_time = to_micros(wall);
  lease.spec.renew_time = lease.spec.acquire_time;
  state_ = State::updating;
  actions.emplace_back(Update{std::move(lease), request_deadline(now)});
}

void Elector::succeeded(MonoTime now, Actions& actions) {
  state_ = State::waiting;
  give_up_ = MonoTime::max();
  optimistic_ = false;
  // client-go also renews right after acquiring.
  next_try_ = leads_ ? now + config_.retry_period : now;
  if (std::exchange(leads_, true)) return;
  actions.emplace_back(BecameLeader{});
}

void Elector::failed(MonoTime now, const std::string& why, Actions& actions) {
  optimistic_ = false;
  if (leads_ && now >= give_up_) {
    lost("not renewed within " + format_duration(config_.renew_deadline) + ": " + why, actions);
    return;
  }
  if (!why.empty()) actions.emplace_back(Warn{why});
  state_ = State::waiting;
  if (leads_) {
    next_try_ = std::clamp(tried_at_ + config_.retry_period, now, give_up_);
    return;
  }
  const std::chrono::duration<double, std::nano> most = config_.retry_period * jitter_factor;
  next_try_ =
      now + config_.retry_period + random_.jitter(std::chrono::duration_cast<Duration>(most));
}

void Elector::lost(std::string why, Actions& actions) {
  leads_ = false;
  state_ = State::ended;
  actions.emplace_back(LostLeadership{std::move(why)});
}

void Elector::note_version(const Lease& lease, Actions& actions) {
  const objects::Version version =
      objects::parse_version(lease.metadata.resource_version).value_or(0);
  // The process ends already if the lease is being released.
  if (version == 0 || version >= newest_ || releasing_) {
    newest_ = std::max(newest_, version);
    return;
  }
  leads_ = false;
  state_ = State::ended;
  actions.emplace_back(DataReplaced{"the API server's versions went back from " +
                                    std::to_string(newest_) + " to " + std::to_string(version) +
                                    ": its data was replaced by older data"});
}

void Elector::stopped(Actions& actions) {
  leads_ = false;
  state_ = State::ended;
  actions.emplace_back(Stopped{});
}

void Elector::observe(MonoTime now, const Lease& lease, Actions& actions) {
  Record record = record_of(lease);
  if (observed_ == record) return;
  const bool other = !observed_ || observed_->holder != record.holder;
  observed_ = std::move(record);
  observed_at_ = now;
  if (leads_ && observed_->holder != config_.identity) {
    // Another holder may act from now on. An empty holder means that somebody wants us to stop.
    if (releasing_) {
      stopped(actions);
    } else if (observed_->holder.empty()) {
      lost("another client cleared the holder of the lease", actions);
    } else {
      lost("the lease is held by " + observed_->holder, actions);
    }
  } else if (other && observed_->holder != config_.identity) {
    actions.emplace_back(SawLeader{observed_->holder});
  }
}

Elector::Record Elector::record_of(const Lease& lease) {
  return {.holder = lease.spec.holder_identity,
          .duration = seconds(lease.spec.lease_duration_seconds.value_or(0)),
          .acquired = lease.spec.acquire_time,
          .renewed = lease.spec.renew_time,
          .transitions = lease.spec.lease_transitions.value_or(0)};
}

bool Elector::held_by_other(MonoTime now) const {
  return !leads_ && observed_ && !observed_->holder.empty() &&
         observed_->holder != config_.identity && observed_at_ + observed_->duration > now;
}

// As client-go's client for the lease: half of the renew deadline, but at least a second.
MonoTime Elector::request_deadline(MonoTime now) const {
  const Duration limit = std::max<Duration>(config_.renew_deadline / 2, seconds(1));
  return std::min(now + limit, give_up_);
}

}  // namespace holdfast::sync::election
