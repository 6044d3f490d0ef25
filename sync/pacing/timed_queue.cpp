#include "sync/pacing/timed_queue.h"

namespace holdfast::sync::pacing {

bool TimedQueue::add(MonoTime now, const std::string& key, const Entry& entry) {
  if (entries_.contains(key)) return false;
  const Turn turn{now + (entry.fire - entry.created), ++sequence_};
  entries_.emplace(key, Slot{entry, turn});
  heap_.emplace(turn, key);
  return true;
}

TimedQueue::Update TimedQueue::update(MonoTime now, const std::string& key, const Entry& entry) {
  const Entry* found = find(key);
  if (found != nullptr && found->fire == entry.fire) return Update::kept;
  const bool waited = cancel(key);
  add(now, key, entry);
  return waited ? Update::moved : Update::added;
}

bool TimedQueue::cancel(const std::string& key) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return false;
  heap_.erase(found->second.turn);
  entries_.erase(found);
  return true;
}

std::vector<std::string> TimedQueue::take(MonoTime now) {
  std::vector<std::string> due;
  while (!heap_.empty() && heap_.begin()->first.due <= now) {
    due.push_back(std::move(heap_.begin()->second));
    heap_.erase(heap_.begin());
    entries_.erase(due.back());
  }
  return due;
}

MonoTime TimedQueue::next() const {
  return heap_.empty() ? MonoTime::max() : heap_.begin()->first.due;
}

const TimedQueue::Entry* TimedQueue::find(const std::string& key) const {
  const auto found = entries_.find(key);
  return found == entries_.end() ? nullptr : &found->second.entry;
}

std::vector<std::string> TimedQueue::keys() const {
  std::vector<std::string> keys;
  keys.reserve(entries_.size());
  for (const auto& [key, slot] : entries_) keys.push_back(key);
  return keys;
}

}  // namespace holdfast::sync::pacing
