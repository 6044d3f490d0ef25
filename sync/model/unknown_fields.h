// The fields of an object without a C++ member, kept from decode to encode unchanged.
//
// Immutable and shared between copies; a null pointer if there are none. Compared by value. Only
// the codec reads the content, so this header does not need Boost.JSON.

#pragma once

#include <memory>
#include <utility>

namespace boost::json {
class object;
}  // namespace boost::json

namespace holdfast::sync::inline model {

class UnknownFields {
 public:
  UnknownFields() = default;
  explicit UnknownFields(std::shared_ptr<const boost::json::object> fields)
      : fields_(std::move(fields)) {}

  [[nodiscard]] bool empty() const { return fields_ == nullptr; }
  // nullptr if empty.
  [[nodiscard]] const boost::json::object* get() const { return fields_.get(); }

  friend bool operator==(const UnknownFields& left, const UnknownFields& right) {
    return left.fields_ == right.fields_ || same(left, right);
  }

 private:
  [[nodiscard]] static bool same(const UnknownFields& left, const UnknownFields& right);

  std::shared_ptr<const boost::json::object> fields_;
};

}  // namespace holdfast::sync::inline model
