// Label and field selectors, compiled for matching: parsed from a request's query, from an
// object's LabelSelector, or from labels that must be equal.
//
// Errors carry upstream's wording and nothing else, so that they can be answered as they are.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/result.h"
#include "sync/model/meta.h"

namespace holdfast::sync {

struct LabelRequirement {
  enum class Operator : std::uint8_t {
    in,
    not_in,
    equals,
    double_equals,
    not_equals,
    exists,
    not_exists,
    greater,
    less,
  };

  std::string key;
  Operator op;
  std::vector<std::string> values;  // sorted, no duplicates

  bool operator==(const LabelRequirement&) const = default;

  [[nodiscard]] bool matches(const StringMap& labels) const;
  // "a=b", "a in (b,c)", "!a": parses back to the same.
  [[nodiscard]] std::string text() const;
};

class LabelQuery {
 public:
  // Matches everything.
  LabelQuery() = default;
  // Matches nothing: what an absent LabelSelector selects.
  [[nodiscard]] static LabelQuery nothing();
  // Errors of both: invalid.
  [[nodiscard]] static Result<LabelQuery> parse(std::string_view text);
  [[nodiscard]] static Result<LabelQuery> from(const LabelSelector& selector);
  // All of these labels with exactly these values.
  [[nodiscard]] static LabelQuery from_labels(const StringMap& labels);

  [[nodiscard]] bool matches(const StringMap& labels) const;
  [[nodiscard]] bool matches_everything() const { return !nothing_ && requirements_.empty(); }
  [[nodiscard]] const std::vector<LabelRequirement>& requirements() const { return requirements_; }
  // The one value that this label must have, if there is such a requirement.
  [[nodiscard]] std::optional<std::string> exact(std::string_view key) const;
  // Canonical: requirements sorted by key.
  [[nodiscard]] std::string text() const;

  bool operator==(const LabelQuery&) const = default;

 private:
  std::vector<LabelRequirement> requirements_;  // sorted by key
  bool nothing_ = false;
};

struct FieldRequirement {
  std::string field;
  bool equal;  // or: must differ
  std::string value;

  bool operator==(const FieldRequirement&) const = default;
};

class FieldQuery {
 public:
  // Matches everything.
  FieldQuery() = default;
  // Errors: invalid.
  [[nodiscard]] static Result<FieldQuery> parse(std::string_view text);

  // `fields` has the values of the fields asked for; a missing one counts as "".
  [[nodiscard]] bool matches(const StringMap& fields) const;
  [[nodiscard]] bool matches_everything() const { return requirements_.empty(); }
  [[nodiscard]] const std::vector<FieldRequirement>& requirements() const { return requirements_; }
  // The one value that this field must have, if there is such a requirement.
  [[nodiscard]] std::optional<std::string> exact(std::string_view field) const;
  // Canonical: terms sorted, values escaped.
  [[nodiscard]] std::string text() const;

  bool operator==(const FieldQuery&) const = default;

 private:
  std::vector<FieldRequirement> requirements_;
};

// Which fields a resource can be selected by, and their values in an object.
// Errors: invalid, with upstream's words, when the query asks for another field.
[[nodiscard]] Status check_fields(std::string_view group, std::string_view resource,
                                  const FieldQuery& query);
// The values of those fields that `query` asks for, from an object's JSON bytes.
// Errors: those of check_fields; invalid (broken JSON).
[[nodiscard]] Result<StringMap> field_values(std::string_view group, std::string_view resource,
                                             const FieldQuery& query, std::string_view object);

}  // namespace holdfast::sync
