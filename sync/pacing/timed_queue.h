// Keys with an hour: what is to happen later, once, unless it is cancelled before.
//
// Each key remembers from when it counts (`created`) and what it was set for (`fire`). As upstream
// it waits for `fire - created` from the moment it was added.

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

  // False, and nothing happens, when `key` waits already.
  bool add(MonoTime now, const std::string& key, const Entry& entry);

  // Adds `key`, or moves it when it waits for another hour.
  Update update(MonoTime now, const std::string& key, const Entry& entry);

  // Whether it waited.
  bool cancel(const std::string& key);

  // Takes out what is due, earliest first.
  [[nodiscard]] std::vector<std::string> take(MonoTime now);

  // When the next key is due; MonoTime::max() when none waits.
  [[nodiscard]] MonoTime next() const;

  // nullptr when `key` does not wait. Borrowed until the next change.
  [[nodiscard]] const Entry* find(const std::string& key) const;
  // In no order.
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
