// Comparing what came out with what a case expects, key by key: the first difference is told, and a
// key that nobody compared is one.

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
  // Borrows it.
  explicit Check(const json::object& expected) : expected_(expected) {}

  [[nodiscard]] const json::object& expected() const { return expected_; }
  // Whether the case expects anything of it; then it must be compared.
  [[nodiscard]] const json::value* wants(std::string_view key);

  void equal(std::string_view key, const json::value& found);
  void list(std::string_view key, const Names& found);
  // In any order.
  void set(std::string_view key, const Names& found);
  // One of the values that are listed.
  void one_of(std::string_view key, const json::value& found);
  // One of the sets that are listed.
  void one_set_of(std::string_view key, const Names& found);
  // null stands for success.
  void status(std::string_view key, const sync::schedule::FitStatus& found);

  void differs(std::string_view key, const json::value& wanted, const json::value& found);
  void fail(std::string text);
  [[nodiscard]] Difference result() const;

 private:
  const json::object& expected_;
  std::set<std::string, std::less<>> known_;
  Difference first_;
};

[[nodiscard]] json::value to_json(const sync::schedule::FitStatus& verdict);
[[nodiscard]] json::value to_json(const Names& names);
[[nodiscard]] Names sorted(Names names);
[[nodiscard]] Names names_in(const json::object& object, std::string_view name);

}  // namespace holdfast::cases
