// Compares results with the "expect" object of a case, key by key, and keeps the first difference.
// A key of the case that was never compared is an error of the case.

#pragma once

#include <boost/json/value.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sync/schedule/fit_status.h"
#include "test/cases/fields.h"

namespace holdfast::cases {

using Difference = std::optional<std::string>;
using Names = std::vector<std::string>;

class Check {
 public:
  // `expected` must outlive this object.
  explicit Check(const json::object& expected) : expected_(expected) {}

  [[nodiscard]] const json::object& expected() const { return expected_; }
  // The expected value, or nullptr if the case does not have this key. The key counts as compared,
  // so the caller must compare the value. The functions below ignore keys that the case lacks.
  [[nodiscard]] const json::value* wants(std::string_view key);
  // The same for a key that the case must have, with any value. Throws Malformed if it is missing.
  [[nodiscard]] const json::value& needs(std::string_view key);

  void equal(std::string_view key, const json::value& found);
  void list(std::string_view key, const Names& found);
  // Compares the names in any order.
  void set(std::string_view key, const Names& found);
  // The case lists several values; `found` must be one of them.
  void one_of(std::string_view key, const json::value& found);
  // The case lists several sets of names; `found` must be equal to one of them.
  void one_set_of(std::string_view key, const Names& found);
  // In the case, null stands for success.
  void status(std::string_view key, const sync::schedule::FitStatus& found);

  void differs(std::string_view key, const json::value& wanted, const json::value& found);
  void fail(std::string text);
  // Throws Malformed if there is no difference, but an unknown key.
  [[nodiscard]] Difference result() const;

 private:
  const json::object& expected_;
  std::set<std::string, std::less<>> known_;
  Difference first_;
};

[[nodiscard]] json::value to_json(const sync::schedule::FitStatus& fit_status);
[[nodiscard]] json::value to_json(const Names& names);
[[nodiscard]] Names sorted(Names names);
[[nodiscard]] Names names_in(const json::object& object, std::string_view name);

}  // namespace holdfast::cases
