// A map from strings to values that keeps only the most recently used entries (LRU).

#pragma once

#include <cstddef>
#include <list>
#include <string>
#include <unordered_map>
#include <utility>

namespace holdfast::sync::events {

template <class Value>
class LruMap {
 public:
  explicit LruMap(std::size_t most) : most_(most) {}

  // The value at `key`, default-constructed if there was none. It becomes the most recent entry.
  // The reference is valid until the next call.
  [[nodiscard]] Value& at(const std::string& key) {
    const auto found = by_key_.find(key);
    if (found != by_key_.end()) {
      entries_.splice(entries_.begin(), entries_, found->second);
      return entries_.front().second;
    }
    entries_.emplace_front(key, Value());
    by_key_.emplace(key, entries_.begin());
    if (entries_.size() > most_) {
      by_key_.erase(entries_.back().first);
      entries_.pop_back();
    }
    return entries_.front().second;
  }

  void erase(const std::string& key) {
    const auto found = by_key_.find(key);
    if (found == by_key_.end()) return;
    entries_.erase(found->second);
    by_key_.erase(found);
  }

  [[nodiscard]] std::size_t size() const { return entries_.size(); }

 private:
  using Entries = std::list<std::pair<std::string, Value>>;

  std::size_t most_;
  Entries entries_;  // most recent first
  std::unordered_map<std::string, typename Entries::iterator> by_key_;
};

}  // namespace holdfast::sync::events
