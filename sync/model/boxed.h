// An optional value on the heap: 8 bytes when absent, copied and compared by value.
//
// For parts that most objects do not have, so that these objects stay small.

#pragma once

#include <memory>
#include <utility>

namespace holdfast::sync::inline model {

template <class T>
class Boxed {
 public:
  Boxed() = default;
  Boxed(T value) : value_(std::make_unique<T>(std::move(value))) {}  // implicit, like std::optional
  Boxed(const Boxed& other) : value_(other.value_ ? std::make_unique<T>(*other.value_) : nullptr) {}
  Boxed(Boxed&&) noexcept = default;
  Boxed& operator=(const Boxed& other) { return *this = Boxed(other); }
  Boxed& operator=(Boxed&&) noexcept = default;
  ~Boxed() = default;

  [[nodiscard]] explicit operator bool() const { return value_ != nullptr; }
  [[nodiscard]] const T& operator*() const { return *value_; }
  [[nodiscard]] T& operator*() { return *value_; }
  [[nodiscard]] const T* operator->() const { return value_.get(); }
  [[nodiscard]] T* operator->() { return value_.get(); }

  friend bool operator==(const Boxed& left, const Boxed& right) {
    if (!left || !right) return !left && !right;
    return *left == *right;
  }

 private:
  std::unique_ptr<T> value_;
};

}  // namespace holdfast::sync::inline model
