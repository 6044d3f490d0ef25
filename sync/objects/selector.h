// Label and field selectors for matching: parsed from a request's query, from an object's
// LabelSelector, or created from labels that must be equal.
//
// Errors have exactly upstream's wording, so that they can be sent to clients unchanged.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/result.h"
#include "sync/model/meta.h"

namespace holdfast::sync::objects {

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
  // "a=b", "a in (b,c)", "!a": parsing it gives the same requirement.
  [[nodiscard]] std::string text() const;
};

class LabelQuery {
 public:
  // Matches everything.
  LabelQuery() = default;
  // Matches nothing, as an absent LabelSelector does.
  [[nodiscard]] static LabelQuery nothing();
  // Errors of both: invalid.
  [[nodiscard]] static Result<LabelQuery> parse(std::string_view text);
  [[nodiscard]] static Result<LabelQuery> from(const LabelSelector& selector);
  // Matches objects that have all of these labels with exactly these values.
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
  bool equal;  // false: must differ
  std::string value;

  bool operator==(const FieldRequirement&) const = default;
};

class FieldQuery {
 public:
  // Matches everything.
  FieldQuery() = default;
  // Errors: invalid.
  [[nodiscard]] static Result<FieldQuery> parse(std::string_view text);

  // `fields` has the values of the selected fields; a missing one counts as "".
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

// Checks that a resource can be selected by the fields of the query.
// Errors: invalid, in upstream's wording, if the query has another field.
[[nodiscard]] Status check_fields(std::string_view group, std::string_view resource,
                                  const FieldQuery& query);
// The values of the fields in `query`, from an object's JSON bytes.
// Errors: those of check_fields(); invalid (broken JSON).
[[nodiscard]] Result<StringMap> field_values(std::string_view group, std::string_view resource,
                                             const FieldQuery& query, std::string_view object);

}  // namespace holdfast::sync::objects
