#include "agent/lab/scenario/scenario_file.h"

#include <algorithm>

#include "agent/lab/scenario/override.h"

namespace holdfast::agent::lab {
namespace {

// Names and descriptions are printed as they are.
std::string check_shown_text(const std::string& text, std::size_t bytes_max) {
  const bool is_plain = std::none_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 ? c != '\n' : c == 0x7f;
  });
  if (!is_plain) return "has control characters: " + quoted_text(text);
  if (text.size() <= bytes_max) return {};
  return std::to_string(text.size()) + " bytes; at most " + std::to_string(bytes_max) +
         " are allowed";
}

using ReadSection = void (*)(SectionReader& reader, const YamlItem& item, Scenario& scenario);

struct Section {
  std::string_view key;
  ReadSection read = nullptr;
};

void read_duration(SectionReader& reader, const YamlItem& item, Scenario& scenario) {
  reader.fields.duration(scenario.duration, std::chrono::seconds(1), reader.limits.duration)(item);
}
void read_seed(SectionReader& reader, const YamlItem& item, Scenario& scenario) {
  reader.fields.seed(scenario.seed)(item);
}
void read_name(SectionReader& reader, const YamlItem& item, Scenario& scenario) {
  const std::size_t most = reader.limits.text_bytes;
  reader.fields.text(scenario.name, [most](const std::string& text) {
    return check_shown_text(text, most);
  })(item);
}
void read_about(SectionReader& reader, const YamlItem& item, Scenario& scenario) {
  const std::size_t most = reader.limits.text_bytes;
  reader.fields.text(scenario.about, [most](const std::string& text) {
    return check_shown_text(text, most);
  })(item);
}

// In the order of reading: later sections refer to earlier ones.
constexpr Section sections[] = {
    {"name", read_name},           {"about", read_about},        {"duration", read_duration},
    {"seed", read_seed},           {"fleet", read_fleet},        {"workloads", read_workloads},
    {"manifests", read_manifests}, {"cloud", read_cloud_flags},  {"edge", read_edge_flags},
    {"events", read_events},       {"expect", read_expectations}};

Scenario read_root(SectionReader& reader, const YamlItem& root) {
  Scenario scenario;
  FieldTable known;
  for (const Section& section : sections) {
    known.emplace_back(section.key, [](const YamlItem& /*item*/) {});
  }
  reader.fields.map(root, known);
  for (const char* key : {"name", "duration", "fleet"}) reader.fields.require(root, key);
  // Without a duration or a fleet, every event would be wrong, too.
  constexpr std::string_view needed[] = {"duration", "fleet"};
  bool is_complete = true;
  for (const Section& section : sections) {
    const YamlNode* node = root.node.find(section.key);
    const bool refers = section.read == read_events || section.read == read_expectations;
    const std::size_t before = reader.fields.problems().count();
    if (node != nullptr && (is_complete || !refers)) {
      section.read(reader, {*node, std::string(section.key)}, scenario);
    }
    const bool failed = node == nullptr || reader.fields.problems().count() > before;
    const bool is_needed =
        std::find(std::begin(needed), std::end(needed), section.key) != std::end(needed);
    if (is_needed && failed) is_complete = false;
  }
  return scenario;
}

}  // namespace

Result<Scenario> parse_scenario(const std::string& name, const std::string& text,
                                const std::vector<std::string>& overrides, const OpenBeside& open,
                                const ScenarioLimits& limits) {
  ScenarioProblems problems(name);
  auto documents = parse_yaml(text, 0, problems, limits.yaml);
  if (!problems.empty()) return tl::unexpected<Error>(problems.error());
  if (documents.size() != 1) {
    const YamlPlace place = documents.empty() ? YamlPlace{0, 1, 1} : documents[1].place;
    problems.add(place, "", documents.empty() ? "the file is empty" : "more than one document");
    return tl::unexpected<Error>(problems.error());
  }
  for (const std::string& each : overrides) apply_override(documents.front(), each, problems);
  FieldReader fields(problems);
  SectionReader reader{fields, open, limits};
  Scenario scenario = read_root(reader, {documents.front(), ""});
  if (!problems.empty()) return tl::unexpected<Error>(problems.error());
  return scenario;
}

}  // namespace holdfast::agent::lab
