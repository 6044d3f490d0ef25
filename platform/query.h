// The query of a request target ("a=b&c=d") as names and values.

#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/result.h"

namespace holdfast {

// Decoded and in the order of the text; a name may occur several times.
class Query {
 public:
  // `raw` is the part of a target after the '?'. Errors: invalid (a broken percent escape).
  [[nodiscard]] static Result<Query> parse(std::string_view raw);

  // The first value of the name; "" if there is none.
  [[nodiscard]] std::string_view get(std::string_view name) const;
  [[nodiscard]] bool has(std::string_view name) const;
  // As Kubernetes reads a boolean option: absent, "0" and "false" are false, all else is true.
  [[nodiscard]] bool flag(std::string_view name) const;
  void set(std::string_view name, std::string value);
  void remove(std::string_view name);
  // "a=b&c=d", percent-encoded; "" when empty.
  [[nodiscard]] std::string encode() const;

  [[nodiscard]] auto begin() const { return pairs_.begin(); }
  [[nodiscard]] auto end() const { return pairs_.end(); }
  [[nodiscard]] bool empty() const { return pairs_.empty(); }
  bool operator==(const Query&) const = default;

 private:
  std::vector<std::pair<std::string, std::string>> pairs_;
};

}  // namespace holdfast
