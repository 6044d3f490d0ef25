// Keys with a value, ordered by the time at which they are due. Keys with the same due time keep
// the order in which they were pushed.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "platform/check.h"
#include "platform/time.h"

namespace holdfast::sync::pacing {

template <class Value>
class DueQueue {
 public:
  // A key that is pushed while it waits has two turns; erase() and find() are about the later push.
  void push(MonoTime due, const std::string& key, Value value = {}) {
    const Turn turn{due, ++sequence_};
    keys_.emplace(turn, key);
    slots_[key] = {turn, std::move(value)};
  }

  // Returns whether `key` was waiting.
  bool erase(const std::string& key) {
    const auto found = slots_.find(key);
    if (found == slots_.end()) return false;
    keys_.erase(found->second.turn);
    slots_.erase(found);
    return true;
  }

  void clear() {
    keys_.clear();
    slots_.clear();
  }

  // Removes and returns the key that is due first. The queue must not be empty.
  [[nodiscard]] std::string pop() {
    CHECK(!keys_.empty());
    std::string key = std::move(keys_.begin()->second);
    keys_.erase(keys_.begin());
    slots_.erase(key);
    return key;
  }

  // When the first key is due; MonoTime::max() if the queue is empty.
  [[nodiscard]] MonoTime next() const {
    return keys_.empty() ? MonoTime::max() : keys_.begin()->first.due;
  }

  // nullptr if `key` is not waiting. Borrowed until the next change.
  [[nodiscard]] const Value* find(const std::string& key) const {
    const auto found = slots_.find(key);
    return found == slots_.end() ? nullptr : &found->second.value;
  }

  // All waiting keys, by due time.
  [[nodiscard]] std::vector<std::string> keys() const {
    std::vector<std::string> keys;
    keys.reserve(keys_.size());
    for (const auto& [turn, key] : keys_) keys.push_back(key);
    return keys;
  }

  [[nodiscard]] std::size_t size() const { return slots_.size(); }
  [[nodiscard]] bool empty() const { return keys_.empty(); }

 private:
  struct Turn {
    MonoTime due;
    std::uint64_t sequence;
    auto operator<=>(const Turn&) const = default;
  };
  struct Slot {
    Turn turn;
    Value value;
  };

  std::map<Turn, std::string> keys_;
  std::unordered_map<std::string, Slot> slots_;
  std::uint64_t sequence_ = 0;
};

}  // namespace holdfast::sync::pacing
