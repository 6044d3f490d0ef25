#include "agent/lab/scenario/override.h"

#include <optional>

#include "agent/lab/scenario/fields.h"
#include "agent/lab/scenario/scenario_names.h"
#include "platform/check.h"
#include "platform/text.h"

namespace holdfast::agent::lab {
namespace {

constexpr std::size_t steps_max = 16;

// One step of a path: a key or the name of an entry, or a number.
struct PathStep {
  std::string key;
  std::optional<std::size_t> index = {};
};

// Takes "key", "\"key\"" or "[0]" from the front. Errors: invalid.
Result<PathStep> take_step(std::string_view& text) {
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    const auto index = parse_int<std::size_t>(text.substr(1, end == text.npos ? 0 : end - 1));
    if (!index) return fail(Errc::invalid, "expected a number in brackets");
    text.remove_prefix(end + 1);
    return PathStep{{}, index};
  }
  if (text.starts_with('"')) {
    const std::size_t end = text.find('"', 1);
    if (end == std::string_view::npos) return fail(Errc::invalid, "a quote is not closed");
    PathStep step{std::string(text.substr(1, end - 1))};
    text.remove_prefix(end + 1);
    return step;
  }
  const std::size_t end = text.find_first_of(".[=\"");
  PathStep step{std::string(text.substr(0, end))};
  text.remove_prefix(std::min(end, text.size()));
  if (step.key.empty()) return fail(Errc::invalid, "a key is empty");
  return step;
}

// Takes the path up to '='. Errors: invalid.
Result<std::vector<PathStep>> take_path(std::string_view& text) {
  std::vector<PathStep> path;
  while (true) {
    TRY(PathStep step, take_step(text));
    path.push_back(std::move(step));
    if (path.size() > steps_max) return fail(Errc::invalid, "the path is too long");
    if (text.starts_with('=')) break;
    if (text.starts_with('[')) continue;
    if (!text.starts_with('.')) return fail(Errc::invalid, "expected KEY=VALUE");
    text.remove_prefix(1);
  }
  text.remove_prefix(1);
  return path;
}

// The names by which an entry of a list can be called.
std::vector<std::string_view> names_of(const YamlNode& entry) {
  std::vector<std::string_view> names;
  for (const char* key : {"name", "deployment", "daemonset", "statefulset", "job"}) {
    const YamlNode* value = entry.find(key);
    if (value != nullptr && !value->text.empty()) names.push_back(value->text);
  }
  return names;
}

// Walks to the node that an override replaces.
class OverridePath {
 public:
  OverridePath(ScenarioProblems& problems, YamlPlace place) : problems_(problems), place_(place) {}

  // nullptr, with a problem, if there is no such entry.
  YamlNode* walk(YamlNode& root, const std::vector<PathStep>& path) {
    YamlNode* here = &root;
    for (const PathStep& step : path) {
      here = step.index ? item(*here, *step.index) : entry(*here, step.key);
      if (here == nullptr) return nullptr;
      walked_ = step.index ? walked_ + "[" + std::to_string(*step.index) + "]"
                           : path_of(walked_, step.key);
    }
    return here;
  }

 private:
  YamlNode* wrong(const std::string& what) {
    problems_.add(place_, walked_, what);
    return nullptr;
  }

  YamlNode* item(YamlNode& list, std::size_t index) {
    if (list.kind != YamlNode::Kind::list) return wrong("is not a list");
    if (index < list.items.size()) return &list.items[index];
    return wrong("has no entry [" + std::to_string(index) + "]: it has " +
                 std::to_string(list.items.size()));
  }

  YamlNode* entry(YamlNode& parent, const std::string& key) {
    if (parent.kind == YamlNode::Kind::list) return named(parent, key);
    if (parent.kind == YamlNode::Kind::null) parent.kind = YamlNode::Kind::map;
    if (parent.kind != YamlNode::Kind::map) return wrong("is not a map");
    if (YamlNode* found = parent.find(key)) return found;
    YamlEntry made{key, place_, {}};
    made.value.place = place_;
    parent.entries.push_back(std::move(made));
    return &parent.entries.back().value;
  }

  YamlNode* named(YamlNode& list, const std::string& name) {
    std::vector<std::string_view> known;
    for (YamlNode& each : list.items) {
      for (const std::string_view known_name : names_of(each)) {
        if (known_name == name) return &each;
        known.push_back(known_name);
      }
    }
    return wrong("has no entry " + quoted_text(name) + problems_.hint(name, known));
  }

  ScenarioProblems& problems_;
  YamlPlace place_;
  std::string walked_;
};

}  // namespace

void apply_override(YamlNode& root, const std::string& text, ScenarioProblems& problems) {
  const YamlPlace place{problems.add_override(text), 0, 0};
  std::string_view rest = text;
  const auto path = take_path(rest);
  if (!path) return problems.add(place, "", path.error().what);
  const std::size_t before = problems.count();
  auto values = parse_yaml(std::string(rest), place.source, problems);
  if (problems.count() > before) return;
  if (values.size() > 1) return problems.add(place, "", "expected one value");
  YamlNode* target = OverridePath(problems, place).walk(root, *path);
  if (target == nullptr) return;
  *target = values.empty() ? YamlNode{} : std::move(values.front());
  target->place = place;
}

}  // namespace holdfast::agent::lab
