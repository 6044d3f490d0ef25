// Changes that the end of a scope takes back, however the scope is left: by return, by an exception
// or because a coroutine was cancelled or destroyed. What is changed must outlive the object.

#pragma once

#include <cstddef>
#include <utility>

namespace holdfast {

// Sets a variable, and makes it T() again.
template <class T>
class ScopedValue {
 public:
  ScopedValue(T& variable, T value) : variable_(variable) { variable_ = std::move(value); }
  ~ScopedValue() { variable_ = T(); }
  ScopedValue(const ScopedValue&) = delete;
  ScopedValue& operator=(const ScopedValue&) = delete;

 private:
  T& variable_;
};

// Counts itself.
class ScopedCount {
 public:
  explicit ScopedCount(std::size_t& count) : count_(count) { ++count_; }
  ~ScopedCount() { --count_; }
  ScopedCount(const ScopedCount&) = delete;
  ScopedCount& operator=(const ScopedCount&) = delete;

 private:
  std::size_t& count_;
};

}  // namespace holdfast
