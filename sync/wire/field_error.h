// Validation errors of fields, in the wording of upstream's validation.
//
// A validator collects FieldErrors; status::invalid() builds the 422 response from them.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::sync::wire {

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
  std::string value;   // the invalid value: a quoted string or JSON; or ""
  std::string detail;  // or ""

  bool operator==(const FieldError&) const = default;

  // "FieldValueInvalid": the reason of the cause in the Status.
  [[nodiscard]] std::string_view reason() const;
  // "Invalid value: \"x\": must be ...": the message of the cause.
  [[nodiscard]] std::string body() const;
  // The field, ": " and the body.
  [[nodiscard]] std::string text() const;
};

using FieldErrors = std::vector<FieldError>;

// All errors in one text: a single one as it is, several in brackets, duplicates once; "" if none.
[[nodiscard]] std::string aggregate(std::span<const FieldError> errors);

// Paths: child("spec", "x") is "spec.x", at("spec.x", 0) "spec.x[0]", at("a", "k") "a[k]".
[[nodiscard]] std::string child(std::string_view path, std::string_view name);
[[nodiscard]] std::string at(std::string_view path, std::size_t index);
[[nodiscard]] std::string at(std::string_view path, std::string_view key);

namespace field {

// In all of these, `value` is a text and is quoted.
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
// `printed` is used unquoted: a number, a boolean, JSON.
[[nodiscard]] FieldError invalid_raw(std::string field, std::string printed, std::string detail);

}  // namespace field
}  // namespace holdfast::sync::wire
