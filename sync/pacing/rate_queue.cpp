#include "sync/pacing/rate_queue.h"

namespace holdfast::sync::pacing {

RateQueue::RateQueue(MonoTime now, double rate) : bucket_(now, rate) {}

bool RateQueue::add(MonoTime now, const std::string& name) {
  if (!guard_.insert(name).second) return false;
  enqueue(now, name);
  return true;
}

void RateQueue::add_again(MonoTime now, const std::string& name) {
  if (turn_of_.contains(name) || handling_.contains(name)) return;
  guard_.insert(name);
  enqueue(now, name);
}

bool RateQueue::remove(const std::string& name) {
  dequeue(name);
  handling_.erase(name);
  return guard_.erase(name) > 0;
}

void RateQueue::forget(const std::string& name) { guard_.erase(name); }

void RateQueue::clear() {
  heap_.clear();
  turn_of_.clear();
  guard_.clear();
  handling_.clear();
}

std::optional<std::string> RateQueue::take(MonoTime now) {
  if (heap_.empty() || !bucket_.take(now)) return std::nullopt;
  const auto head = heap_.begin();
  if (head->first.due > now) return std::nullopt;
  std::string name = head->second;
  turn_of_.erase(name);
  heap_.erase(head);
  handling_.insert(name);
  return name;
}

void RateQueue::done(const std::string& name) {
  handling_.erase(name);
  dequeue(name);
}

void RateQueue::again(MonoTime now, const std::string& name, Duration wait) {
  if (handling_.erase(name) == 0) return;
  enqueue(now + wait + Duration(1), name);  // Upstream adds a nanosecond, too.
}

void RateQueue::set_rate(MonoTime now, double rate) {
  if (rate <= 0) rate = 0;
  if (rate == bucket_.rate()) return;
  const bool full = bucket_.take(now);
  bucket_ = TokenBucket(now, rate, full);
}

MonoTime RateQueue::next() const {
  if (heap_.empty()) return MonoTime::max();
  return std::max(heap_.begin()->first.due, bucket_.next());
}

std::vector<std::string> RateQueue::waiting() const {
  std::vector<std::string> names;
  names.reserve(heap_.size());
  for (const auto& [turn, name] : heap_) names.push_back(name);
  return names;
}

void RateQueue::enqueue(MonoTime due, const std::string& name) {
  const Turn turn{due, ++sequence_};
  heap_.emplace(turn, name);
  turn_of_[name] = turn;
}

bool RateQueue::dequeue(const std::string& name) {
  const auto found = turn_of_.find(name);
  if (found == turn_of_.end()) return false;
  heap_.erase(found->second);
  turn_of_.erase(found);
  return true;
}

}  // namespace holdfast::sync::pacing
