// Collects what is wrong with a scenario file, so that one run reports several mistakes.
//
// Each problem has a place, the path of the key and a text:
//   site.yaml:7:11: fleet.sites[1].link: unknown profile "5g"; did you mean "4g"?

#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <vector>

#include "platform/result.h"

namespace holdfast::agent::lab {

// A place in the file, or in an override ("--set seed=x"). Lines and columns count from 1; line 0
// stands for the source as a whole.
struct YamlPlace {
  int source = 0;  // 0: the file; else as add_file() or add_override() returned it
  int line = 0;
  int column = 0;
  auto operator<=>(const YamlPlace&) const = default;
};

class ScenarioProblems {
 public:
  static constexpr std::size_t shown_max = 20;

  // Without a file's name, only paths and texts are shown.
  explicit ScenarioProblems(std::string file) : sources_{{std::move(file), true}} {}

  // Registers another file, or an override, whose problems are shown without lines. The number is
  // for YamlPlace::source.
  [[nodiscard]] int add_file(std::string name);
  [[nodiscard]] int add_override(std::string text);

  // `path` may be empty. Control characters are escaped.
  void add(YamlPlace place, std::string_view path, std::string_view what);

  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] std::size_t count() const { return count_; }

  // One line for each of the first shown_max problems in the order of their places, and the number
  // of the others..
  [[nodiscard]] Error error() const;

  // `; did you mean "X"?` with the candidate nearest to `word`, or "" if none is near. Also "" once
  // shown_max problems were added, because the search costs time.
  [[nodiscard]] std::string hint(std::string_view word,
                                 const std::vector<std::string_view>& candidates) const;

 private:
  struct Source {
    std::string name;
    bool has_lines = true;
  };
  struct Problem {
    YamlPlace place;
    std::string text;
  };

  [[nodiscard]] std::string text_of(const Problem& problem) const;

  std::vector<Source> sources_;
  std::vector<Problem> kept_;
  std::size_t count_ = 0;
};

// `text` with control characters escaped.
[[nodiscard]] std::string printable(std::string_view text);

// The same in double quotes, cut after 80 bytes.
[[nodiscard]] std::string quoted_text(std::string_view text);

// {"a", "b", "c"} -> "a, b or c"; with another `last` word: "a, b and c".
[[nodiscard]] std::string alternatives(const std::vector<std::string_view>& words,
                                       std::string_view last = "or");

}  // namespace holdfast::agent::lab
