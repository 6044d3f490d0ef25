// Timers by key: each key becomes due once, unless it is cancelled before.
//
// As upstream's TimedWorkerQueue, a key waits for `fire - created` from the moment it is added.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platform/time.h"
#include "sync/pacing/due_queue.h"

namespace holdfast::sync::pacing {

class TimedQueue {
 public:
  struct Entry {
    MonoTime created;
    MonoTime fire;
    bool operator==(const Entry&) const = default;
  };

  enum class Update : std::uint8_t { added, kept, moved };

  // Adds `key`. Returns false and changes nothing if it is waiting already.
  bool add(MonoTime now, const std::string& key, const Entry& entry);

  // Adds `key`, or replaces its entry if `fire` differs.
  Update update(MonoTime now, const std::string& key, const Entry& entry);

  // Returns whether `key` was waiting.
  bool cancel(const std::string& key) { return entries_.erase(key); }

  // Removes and returns the keys that are due, earliest first.
  [[nodiscard]] std::vector<std::string> take(MonoTime now);

  // When the next key is due; MonoTime::max() if none is waiting.
  [[nodiscard]] MonoTime next() const { return entries_.next(); }

  // nullptr if `key` is not waiting. Borrowed until the next change.
  [[nodiscard]] const Entry* find(const std::string& key) const { return entries_.find(key); }
  // All waiting keys, by due time.
  [[nodiscard]] std::vector<std::string> keys() const { return entries_.keys(); }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

 private:
  DueQueue<Entry> entries_;
};

}  // namespace holdfast::sync::pacing
