// The fields of an object that we have no member for, carried from decode to encode unchanged.
//
// Immutable and shared between copies; costs a null pointer when there are none. Compares by
// value. Nobody but the codec looks inside, so this header does without Boost.JSON.

#pragma once

#include <memory>
#include <utility>

namespace boost::json {
class object;
}  // namespace boost::json

namespace holdfast::sync {

class Untouched {
 public:
  Untouched() = default;
  explicit Untouched(std::shared_ptr<const boost::json::object> fields)
      : fields_(std::move(fields)) {}

  [[nodiscard]] bool empty() const { return fields_ == nullptr; }
  // nullptr when empty.
  [[nodiscard]] const boost::json::object* get() const { return fields_.get(); }

  friend bool operator==(const Untouched& left, const Untouched& right) {
    return left.fields_ == right.fields_ || same(left, right);
  }

 private:
  [[nodiscard]] static bool same(const Untouched& left, const Untouched& right);

  std::shared_ptr<const boost::json::object> fields_;
};

}  // namespace holdfast::sync
