// Resource quantities in Kubernetes' notation: "500m", "1.5Gi", "2e3".
//
// As in upstream's resource.Quantity, they are exact to 10^-9, finer fractions are rounded away
// from zero, and the maximum is 2^63-1 units (larger amounts are reduced to it).

#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "platform/integers.h"
#include "platform/result.h"

namespace holdfast::sync::objects {

class Quantity {
 public:
  // Zero.
  Quantity() = default;
  // Whole units, printed with decimal suffixes ("5k").
  [[nodiscard]] static Quantity units(std::int64_t count);
  [[nodiscard]] static Quantity millis(std::int64_t count);
  // Bytes, printed with binary suffixes ("5Ki").
  [[nodiscard]] static Quantity bytes(std::int64_t count);

  // Errors: invalid, in upstream's wording.
  [[nodiscard]] static Result<Quantity> parse(std::string_view text);

  // The amount in whole units and in thousandths, rounded away from zero and limited to the range
  // of int64.
  [[nodiscard]] std::int64_t value() const;
  [[nodiscard]] std::int64_t milli_value() const;
  [[nodiscard]] bool negative() const { return nanos_ < 0; }
  [[nodiscard]] bool zero() const { return nanos_ == 0; }

  // The canonical form: no fraction, and the largest suffix that keeps it exact. "0.5" is "500m".
  [[nodiscard]] std::string text() const;

  // Compares amounts; "1000m" equals "1". A sum keeps the format of its left operand.
  friend bool operator==(const Quantity& left, const Quantity& right) {
    return left.nanos_ == right.nanos_;
  }
  friend std::strong_ordering operator<=>(const Quantity& left, const Quantity& right) {
    return left.nanos_ < right.nanos_   ? std::strong_ordering::less
           : left.nanos_ > right.nanos_ ? std::strong_ordering::greater
                                        : std::strong_ordering::equal;
  }
  Quantity& operator+=(const Quantity& other);
  Quantity& operator-=(const Quantity& other);

 private:
  enum class Format : std::uint8_t { decimal, binary, exponent };

  Quantity(Int128 nanos, Format format);
  [[nodiscard]] std::string decimal_text() const;

  Int128 nanos_ = 0;
  Format format_ = Format::decimal;
};

}  // namespace holdfast::sync::objects
