#include "agent/lab/rules/pattern.h"

#include <regex>

namespace holdfast::agent::lab {
namespace {

// libstdc++'s breadth-first matcher, without back-references.
constexpr auto pattern_syntax = std::regex::ECMAScript | std::regex_constants::__polynomial;

}  // namespace

std::string pattern_problem(const std::string& pattern) {
  try {
    (void)std::regex(pattern, pattern_syntax);
    return "";
  } catch (const std::regex_error& problem) {
    return problem.what();
  }
}

bool matches_pattern(std::string_view text, const std::string& pattern) {
  const std::regex compiled(pattern, pattern_syntax);
  return std::regex_search(text.begin(), text.end(), compiled);
}

}  // namespace holdfast::agent::lab
