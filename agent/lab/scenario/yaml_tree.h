// Reads YAML into a tree that knows where everything stands, with limits on hostile input.
//
// Aliases are refused, because a few of them can stand for any number of nodes. Depth and number of
// nodes are limited. Keys must be words; keys that stand twice are kept, so that a reader reports
// them with their path.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/lab/scenario/problems.h"

namespace holdfast::agent::lab {

struct YamlEntry;

struct YamlNode {
  enum class Kind : std::uint8_t { null, scalar, list, map };

  Kind kind = Kind::null;
  YamlPlace place;
  std::string text;                // of a scalar
  bool is_quoted = false;          // of a scalar: it is text, whatever it looks like
  std::vector<YamlNode> items;     // of a list
  std::vector<YamlEntry> entries;  // of a map, in the order of the file

  // Null if the map has no such key, or if this is no map.
  [[nodiscard]] const YamlNode* find(std::string_view key) const;
  [[nodiscard]] YamlNode* find(std::string_view key);
};

struct YamlEntry {
  std::string key;
  YamlPlace place;  // of the key
  YamlNode value;
};

struct YamlLimits {
  std::size_t nodes = 200'000;
  std::size_t depth = 24;
};

// Reads all documents of `text`. What is wrong is added to `problems`; then the result is
// incomplete.
[[nodiscard]] std::vector<YamlNode> parse_yaml(const std::string& text, int source,
                                               ScenarioProblems& problems,
                                               const YamlLimits& limits = {});

// "a map", "a list", "a word", "nothing".
[[nodiscard]] std::string_view kind_text(const YamlNode& node);

}  // namespace holdfast::agent::lab
