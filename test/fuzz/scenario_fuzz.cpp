// Scenario files: what is accepted keeps its promises, and every error names a place.
//
// The input is a scenario; after a line "----" an override, and after another one a trace or a
// manifest. The flags of the programs are not checked here: that needs the whole programs.

#include <algorithm>

#include "agent/lab/scenario/scenario_file.h"
#include "platform/check.h"
#include "test/fuzz/pieces.h"

namespace holdfast::agent::lab {

void read_cloud_flags(SectionReader& reader, const YamlItem& item, Scenario& scenario) {
  reader.fields.texts(scenario.cloud, {}, {})(item);
}
void read_edge_flags(SectionReader& reader, const YamlItem& item, Scenario& scenario) {
  reader.fields.texts(scenario.edge, {}, {})(item);
}

namespace {

constexpr std::string_view separator = "\n----\n";

// The part of `text` before the next separator, which is removed with it.
std::string take_part(std::string_view& text) {
  const std::size_t end = text.find(separator);
  const std::string part(text.substr(0, end));
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + separator.size());
  return part;
}

// Small limits, so that short inputs reach them.
ScenarioLimits small_limits() {
  ScenarioLimits limits;
  limits.yaml = {.nodes = 500, .depth = 8};
  limits.trace.points = 10;
  limits.nodes = 1000;
  limits.sites = 10;
  limits.events = 10;
  return limits;
}

void check_error(const Error& error) {
  CHECK(error.code == Errc::invalid);
  CHECK(error.what.find(": ") != std::string::npos);
  const auto lines = std::count(error.what.begin(), error.what.end(), '\n');
  CHECK(lines <= static_cast<std::ptrdiff_t>(ScenarioProblems::shown_max));
  // Nothing of the input can control a terminal.
  CHECK(std::none_of(error.what.begin(), error.what.end(), [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7f;
  }));
}

void check_quality(const LinkQuality& quality) {
  CHECK(quality.latency >= Duration::zero() && quality.jitter >= Duration::zero());
  CHECK(quality.loss >= 0 && quality.loss < 1 && quality.rate >= 0);
}

void check_link(const LinkProfile& link, const ScenarioLimits& limits) {
  check_quality(link.up);
  check_quality(link.down);
  CHECK(link.trace.size() <= limits.trace.points);
  for (std::size_t i = 0; i < link.trace.size(); ++i) {
    check_quality(link.trace[i].up);
    check_quality(link.trace[i].down);
    CHECK(i == 0 ? link.trace[i].at == Duration::zero() : link.trace[i - 1].at < link.trace[i].at);
  }
}

void check_scenario(const Scenario& scenario, const ScenarioLimits& limits) {
  CHECK(!scenario.name.empty() && scenario.duration >= std::chrono::seconds(1));
  CHECK(!scenario.sites.empty() && scenario.sites.size() <= limits.sites);
  std::int64_t nodes = 0;
  for (const Site& site : scenario.sites) {
    nodes += site.nodes;
    check_link(site.link, limits);
    CHECK(!site.name.empty() && !site.zone.empty());
  }
  CHECK(nodes <= limits.nodes);
  Duration last{};
  for (const ScenarioEvent& event : scenario.events) {
    CHECK(event.at >= last && event.at <= scenario.duration);
    CHECK(!event.duration || event.at + *event.duration <= scenario.duration);
    last = event.at;
  }
  for (const Expectation& each : scenario.expectations) {
    CHECK(each.at_least || each.at_most);
    CHECK(!each.text.empty());
  }
}

void check_input(std::string_view input) {
  const std::string text = take_part(input);
  std::vector<std::string> overrides;
  if (!input.empty()) overrides.push_back(take_part(input));
  const std::string beside(input);
  const OpenBeside open = [&beside](const std::string& name) -> Result<FileBeside> {
    if (name == "none") return fail(Errc::not_found, "there is no such file");
    return FileBeside{name, beside};
  };
  const ScenarioLimits limits = small_limits();
  const auto scenario = parse_scenario("s.yaml", text, overrides, open, limits);
  if (scenario) {
    check_scenario(*scenario, limits);
  } else {
    check_error(scenario.error());
  }
}

}  // namespace
}  // namespace holdfast::agent::lab

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  holdfast::agent::lab::check_input(holdfast::test::text_of(data, size));
  return 0;
}
