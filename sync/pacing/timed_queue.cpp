#include "sync/pacing/timed_queue.h"

namespace holdfast::sync::pacing {

bool TimedQueue::add(MonoTime now, const std::string& key, const Entry& entry) {
  if (entries_.find(key) != nullptr) return false;
  entries_.push(now + (entry.fire - entry.created), key, entry);
  return true;
}

TimedQueue::Update TimedQueue::update(MonoTime now, const std::string& key, const Entry& entry) {
  const Entry* found = find(key);
  if (found != nullptr && found->fire == entry.fire) return Update::kept;
  const bool waited = cancel(key);
  add(now, key, entry);
  return waited ? Update::moved : Update::added;
}

std::vector<std::string> TimedQueue::take(MonoTime now) {
  std::vector<std::string> due;
  while (!entries_.empty() && entries_.next() <= now) due.push_back(entries_.pop());
  return due;
}

}  // namespace holdfast::sync::pacing
