// Reads the values of a scenario file by tables of fields. Everything that is wrong is added to the
// problems, and reading goes on with the next field.

#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/lab/scenario/yaml_tree.h"
#include "platform/time.h"

namespace holdfast::agent::lab {

// A node and the path of its key: "fleet.sites[1].link".
struct YamlItem {
  const YamlNode& node;
  std::string path;
};

using ReadItem = std::function<void(const YamlItem&)>;
using FieldTable = std::vector<std::pair<std::string_view, ReadItem>>;

// Returns what is wrong with a text, or "".
using CheckText = std::function<std::string(const std::string&)>;

class FieldReader {
 public:
  // `problems` is borrowed and outlives this.
  explicit FieldReader(ScenarioProblems& problems) : problems_(problems) {}

  [[nodiscard]] ScenarioProblems& problems() { return problems_; }
  void wrong(const YamlItem& item, std::string_view what) {
    problems_.add(item.node.place, item.path, what);
  }

  // Reads a map. Keys that the table does not have, and keys that stand twice, are problems.
  void map(const YamlItem& item, const FieldTable& fields);
  // Calls `read` with each entry of a map. Keys that stand twice are problems.
  void entries(const YamlItem& item, const std::function<void(const YamlEntry&, YamlItem)>& read);
  // Calls `read` with each item of a list of at most `most`.
  void list(const YamlItem& item, std::size_t most, const ReadItem& read);
  // A problem if the map does not have the key.
  void require(const YamlItem& map, std::string_view key);

  // These make readers of one value. The variable must outlive the reader, and is set only if the
  // value is right.
  [[nodiscard]] ReadItem text(std::string& out, CheckText check = {});
  [[nodiscard]] ReadItem integer(int& out, std::int64_t least, std::int64_t most);
  [[nodiscard]] ReadItem integer(std::int64_t& out, std::int64_t least, std::int64_t most);
  [[nodiscard]] ReadItem seed(std::uint64_t& out);
  [[nodiscard]] ReadItem flag(bool& out);
  [[nodiscard]] ReadItem duration(Duration& out, Duration least, Duration most);
  [[nodiscard]] ReadItem rate(std::int64_t& out);
  // In [0, 1).
  [[nodiscard]] ReadItem fraction(double& out);
  // A Kubernetes quantity that is not negative: "500m", "4Gi".
  [[nodiscard]] ReadItem quantity(std::string& out);
  // Words by name.
  [[nodiscard]] ReadItem texts(std::map<std::string, std::string>& out, CheckText check_key,
                               CheckText check_value);

  // One of a few words, which `what` names: "effect".
  template <class T>
  [[nodiscard]] ReadItem choice(T& out, std::string_view what,
                                std::vector<std::pair<std::string_view, T>> choices) {
    return [this, &out, what, choices = std::move(choices)](const YamlItem& item) {
      std::vector<std::string_view> names;
      for (const auto& [name, value] : choices) names.push_back(name);
      const std::size_t at = index_of(item, what, names);
      if (at < choices.size()) out = choices[at].second;
    };
  }

  // The word of a scalar that is not empty; nullptr, with a problem, for anything else.
  const std::string* word(const YamlItem& item, std::string_view expected);

 private:
  // Returns names.size(), with a problem, if the item is none of the names.
  std::size_t index_of(const YamlItem& item, std::string_view what,
                       const std::vector<std::string_view>& names);

  ScenarioProblems& problems_;
};

// "fleet" + "sites" -> "fleet.sites".
[[nodiscard]] std::string path_of(const std::string& parent, std::string_view key);

}  // namespace holdfast::agent::lab
