// Timers by key: each key becomes due once, unless it is cancelled before.
//
// As upstream's TimedWorkerQueue, a key waits for `fire - created` from the moment it is added.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "platform/time.h"

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
  bool cancel(const std::string& key);

  // Removes and returns the keys that are due, earliest first.
  [[nodiscard]] std::vector<std::string> take(MonoTime now);

  // When the next key is due; MonoTime::max() if none is waiting.
  [[nodiscard]] MonoTime next() const;

  // nullptr if `key` is not waiting. Borrowed until the next change.
  [[nodiscard]] const Entry* find(const std::string& key) const;
  // All waiting keys, unordered.
  [[nodiscard]] std::vector<std::string> keys() const;
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

 private:
  struct Turn {
    MonoTime due;
    std::uint64_t sequence;
    auto operator<=>(const Turn&) const = default;
  };
  struct Slot {
    Entry entry;
    Turn turn;
  };

  std::unordered_map<std::string, Slot> entries_;
  std::map<Turn, std::string> heap_;
  std::uint64_t sequence_ = 0;
};

}  // namespace holdfast::sync::pacing
