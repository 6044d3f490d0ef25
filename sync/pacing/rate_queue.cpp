#include "sync/pacing/rate_queue.h"

namespace holdfast::sync::pacing {

RateQueue::RateQueue(MonoTime now, double rate) : bucket_(now, rate) {}

bool RateQueue::add(MonoTime now, const std::string& name) {
  if (!guard_.insert(name).second) return false;
  queue_.push(now, name);
  return true;
}

void RateQueue::add_again(MonoTime now, const std::string& name) {
  if (queue_.find(name) != nullptr || handling_.contains(name)) return;
  guard_.insert(name);
  queue_.push(now, name);
}

bool RateQueue::remove(const std::string& name) {
  queue_.erase(name);
  handling_.erase(name);
  return guard_.erase(name) > 0;
}

void RateQueue::forget(const std::string& name) { guard_.erase(name); }

void RateQueue::clear() {
  queue_.clear();
  guard_.clear();
  handling_.clear();
}

std::optional<std::string> RateQueue::take(MonoTime now) {
  if (queue_.empty() || !bucket_.take(now)) return std::nullopt;
  if (queue_.next() > now) return std::nullopt;
  std::string name = queue_.pop();
  handling_.insert(name);
  return name;
}

void RateQueue::done(const std::string& name) {
  handling_.erase(name);
  queue_.erase(name);
}

void RateQueue::again(MonoTime now, const std::string& name, Duration wait) {
  if (handling_.erase(name) == 0) return;
  queue_.push(now + wait + Duration(1), name);  // Upstream adds a nanosecond, too.
}

void RateQueue::set_rate(MonoTime now, double rate) {
  if (rate <= 0) rate = 0;
  if (rate == bucket_.rate()) return;
  const bool full = bucket_.take(now);
  bucket_ = TokenBucket(now, rate, {.full = full});
}

MonoTime RateQueue::next() const {
  if (queue_.empty()) return MonoTime::max();
  return std::max(queue_.next(), bucket_.next());
}

}  // namespace holdfast::sync::pacing
