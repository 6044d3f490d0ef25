// What is wrong with which field of an object, worded as upstream's validation words it.
//
// A validator collects FieldErrors; status::invalid() makes the 422 answer of them.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::sync {

struct FieldError {
  enum class Type : std::uint8_t {
    not_found,
    required,
    duplicate,
    invalid,
    not_supported,
    forbidden,
    too_long,
    too_many,
    internal,
    type_invalid,
  };

  Type type;
  std::string field;   // "spec.containers[0].name"
  std::string value;   // the bad value as printed: strings quoted, all else as JSON; or ""
  std::string detail;  // or ""

  bool operator==(const FieldError&) const = default;

  // "FieldValueInvalid": the cause's reason on the wire.
  [[nodiscard]] std::string_view reason() const;
  // "Invalid value: \"x\": must be ...": the cause's message.
  [[nodiscard]] std::string body() const;
  // The field, ": " and the body.
  [[nodiscard]] std::string text() const;
};

using FieldErrors = std::vector<FieldError>;

// All of them in one text: the only one as it is, more in brackets, equal ones once; "" if none.
[[nodiscard]] std::string aggregate(std::span<const FieldError> errors);

// Paths: child("spec", "x") is "spec.x", at("spec.x", 0) "spec.x[0]", at("a", "k") "a[k]".
[[nodiscard]] std::string child(std::string_view path, std::string_view name);
[[nodiscard]] std::string at(std::string_view path, std::size_t index);
[[nodiscard]] std::string at(std::string_view path, std::string_view key);

namespace field {

// `value` is a text and gets quoted, in all of these.
[[nodiscard]] FieldError required(std::string field, std::string detail = {});
[[nodiscard]] FieldError invalid(std::string field, std::string_view value, std::string detail);
[[nodiscard]] FieldError duplicate(std::string field, std::string_view value);
[[nodiscard]] FieldError not_found(std::string field, std::string_view value);
[[nodiscard]] FieldError not_supported(std::string field, std::string_view value,
                                       std::span<const std::string_view> supported);
[[nodiscard]] FieldError forbidden(std::string field, std::string detail);
[[nodiscard]] FieldError too_long(std::string field, std::size_t bytes_max);
[[nodiscard]] FieldError too_many(std::string field, std::size_t count, std::size_t count_max);
[[nodiscard]] FieldError internal(std::string field, std::string detail);
// The value as it should be printed: a number, a boolean, JSON.
[[nodiscard]] FieldError invalid_raw(std::string field, std::string printed, std::string detail);

}  // namespace field
}  // namespace holdfast::sync
