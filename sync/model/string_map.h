// A small sorted map of strings: labels, annotations, data. 24 bytes when empty (64-bit).
//
// It is sorted by key, as Kubernetes prints maps. It is one vector instead of a tree, because a
// controller holds hundreds of thousands of them. Lookups are O(log n), inserts O(n); n is small.

#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::sync::inline model {

class StringMap {
 public:
  using Entry = std::pair<std::string, std::string>;

  StringMap() = default;
  // Of entries with the same key the last one counts.
  StringMap(std::initializer_list<Entry> entries) {
    for (const Entry& entry : entries) set(entry.first, entry.second);
  }

  // The value, or nullptr. Valid until the next change.
  [[nodiscard]] const std::string* find(std::string_view key) const {
    const auto at = lower(key);
    return at != entries_.end() && at->first == key ? &at->second : nullptr;
  }
  [[nodiscard]] bool has(std::string_view key) const { return find(key) != nullptr; }
  // The value, or "" if there is none. Valid until the next change.
  [[nodiscard]] std::string_view get(std::string_view key) const {
    const std::string* value = find(key);
    return value != nullptr ? std::string_view(*value) : std::string_view();
  }

  void set(std::string_view key, std::string_view value) {
    const auto at = lower(key);
    if (at != entries_.end() && at->first == key) {
      entries_[static_cast<std::size_t>(at - entries_.begin())].second = value;
    } else {
      entries_.emplace(at, key, value);
    }
  }
  // Returns whether the key existed.
  bool erase(std::string_view key) {
    const auto at = lower(key);
    if (at == entries_.end() || at->first != key) return false;
    entries_.erase(at);
    return true;
  }

  void reserve(std::size_t count) { entries_.reserve(count); }
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] auto begin() const { return entries_.begin(); }
  [[nodiscard]] auto end() const { return entries_.end(); }
  bool operator==(const StringMap&) const = default;

 private:
  [[nodiscard]] std::vector<Entry>::const_iterator lower(std::string_view key) const {
    return std::lower_bound(
        entries_.begin(), entries_.end(), key,
        [](const Entry& entry, std::string_view wanted) { return entry.first < wanted; });
  }

  std::vector<Entry> entries_;
};

}  // namespace holdfast::sync::inline model
