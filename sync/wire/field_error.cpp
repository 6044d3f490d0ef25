#include "sync/wire/field_error.h"

#include <algorithm>

#include "platform/check.h"
#include "sync/wire/quote.h"

namespace holdfast::sync::wire {
namespace {

using Type = FieldError::Type;

std::string_view headline(Type type) {
  switch (type) {
    case Type::not_found:
      return "Not found";
    case Type::required:
      return "Required value";
    case Type::duplicate:
      return "Duplicate value";
    case Type::invalid:
      return "Invalid value";
    case Type::not_supported:
      return "Unsupported value";
    case Type::forbidden:
      return "Forbidden";
    case Type::too_long:
      return "Too long";
    case Type::too_many:
      return "Too many";
    case Type::internal:
      return "Internal error";
    case Type::type_invalid:
      return "Invalid value";
  }
  UNREACHABLE();
}

}  // namespace

std::string_view FieldError::reason() const {
  switch (type) {
    case Type::not_found:
      return "FieldValueNotFound";
    case Type::required:
      return "FieldValueRequired";
    case Type::duplicate:
      return "FieldValueDuplicate";
    case Type::invalid:
      return "FieldValueInvalid";
    case Type::not_supported:
      return "FieldValueNotSupported";
    case Type::forbidden:
      return "FieldValueForbidden";
    case Type::too_long:
      return "FieldValueTooLong";
    case Type::too_many:
      return "FieldValueTooMany";
    case Type::internal:
      return "InternalError";
    case Type::type_invalid:
      return "FieldValueTypeInvalid";
  }
  UNREACHABLE();
}

std::string FieldError::body() const {
  std::string text(headline(type));
  if (!value.empty()) text.append(": ").append(value);
  if (!detail.empty()) text.append(": ").append(detail);
  return text;
}

std::string FieldError::text() const { return field + ": " + body(); }

std::string aggregate(std::span<const FieldError> errors) {
  std::vector<std::string> texts;
  for (const FieldError& error : errors) {
    std::string text = error.text();
    if (std::find(texts.begin(), texts.end(), text) == texts.end()) {
      texts.push_back(std::move(text));
    }
  }
  if (texts.empty()) return {};
  if (texts.size() == 1) return texts.front();
  std::string all = "[";
  for (const std::string& text : texts) {
    if (all.size() > 1) all += ", ";
    all += text;
  }
  return all += ']';
}

std::string child(std::string_view path, std::string_view name) {
  if (path.empty()) return std::string(name);
  return std::string(path).append(".").append(name);
}

std::string at(std::string_view path, std::size_t index) {
  return std::string(path).append("[").append(std::to_string(index)).append("]");
}

std::string at(std::string_view path, std::string_view key) {
  return std::string(path).append("[").append(key).append("]");
}

namespace field {

FieldError required(std::string field, std::string detail) {
  return {Type::required, std::move(field), {}, std::move(detail)};
}

FieldError invalid(std::string field, std::string_view value, std::string detail) {
  return {Type::invalid, std::move(field), quoted(value), std::move(detail)};
}

FieldError duplicate(std::string field, std::string_view value) {
  return {Type::duplicate, std::move(field), quoted(value), {}};
}

FieldError not_found(std::string field, std::string_view value) {
  return {Type::not_found, std::move(field), quoted(value), {}};
}

FieldError not_supported(std::string field, std::string_view value,
                         std::span<const std::string_view> supported) {
  std::string detail = supported.empty() ? "" : "supported values: ";
  for (const std::string_view& known : supported) {
    if (&known != &supported.front()) detail += ", ";
    detail += quoted(known);
  }
  return {Type::not_supported, std::move(field), quoted(value), std::move(detail)};
}

FieldError forbidden(std::string field, std::string detail) {
  return {Type::forbidden, std::move(field), {}, std::move(detail)};
}

FieldError too_long(std::string field, std::size_t bytes_max) {
  const std::string unit = bytes_max == 1 ? " byte" : " bytes";
  return {Type::too_long,
          std::move(field),
          {},
          "may not be more than " + std::to_string(bytes_max) + unit};
}

FieldError too_many(std::string field, std::size_t count, std::size_t count_max) {
  const std::string unit = count_max == 1 ? " item" : " items";
  return {Type::too_many, std::move(field), std::to_string(count),
          "must have at most " + std::to_string(count_max) + unit};
}

FieldError internal(std::string field, std::string detail) {
  return {Type::internal, std::move(field), {}, std::move(detail)};
}

FieldError invalid_raw(std::string field, std::string printed, std::string detail) {
  return {Type::invalid, std::move(field), std::move(printed), std::move(detail)};
}

}  // namespace field
}  // namespace holdfast::sync::wire
