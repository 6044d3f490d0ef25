#include "agent/lab/result/compare.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <set>

#include "agent/lab/result/summary.h"
#include "agent/lab/result/words.h"
#include "sync/wire/json.h"

namespace holdfast::agent::lab {
namespace {

constexpr std::size_t title_width = 16;

std::map<std::string, std::string> all_settings(const RunResult& result) {
  auto settings = result.settings;
  settings["scenario"] = result.scenario;
  settings["mode"] = result.mode;
  settings["seed"] = std::to_string(result.seed);
  settings["duration"] = format_duration(result.duration);
  return settings;
}

std::vector<SettingPair> different_settings(const RunResult& a, const RunResult& b) {
  std::map<std::string, SettingPair> pairs;
  for (const auto& [name, value] : all_settings(a)) pairs[name] = {name, value, ""};
  for (const auto& [name, value] : all_settings(b)) {
    pairs[name].name = name;
    pairs[name].b = value;
  }
  std::vector<SettingPair> differ;
  for (auto& [name, pair] : pairs) {
    if (pair.a != pair.b) differ.push_back(std::move(pair));
  }
  return differ;
}

double in_seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

// The entries of both results by name, in the order of `a`, then those that only `b` has.
template <class T>
std::vector<std::pair<T, T>> paired(const std::vector<T>& a, const std::vector<T>& b) {
  std::map<std::string, T> others;
  for (const T& each : b) others.emplace(each.name, each);
  std::vector<std::pair<T, T>> pairs;
  std::set<std::string> known;
  for (const T& each : a) {
    if (!known.insert(each.name).second) continue;
    const auto other = others.find(each.name);
    pairs.emplace_back(each, other == others.end() ? T{} : other->second);
  }
  for (const T& each : b) {
    if (!known.insert(each.name).second) continue;
    pairs.emplace_back(T{}, each);
    pairs.back().first.name = each.name;
  }
  return pairs;
}

// Sums of a result's workloads; requests and bytes of all classes.
struct Sums {
  int evicted = 0;
  int restarted = 0;
  Duration unavailable{};
  std::uint64_t requests = 0;
  std::uint64_t bytes = 0;
};

Sums sums_of(const RunResult& result) {
  Sums sums;
  for (const PodResult& pod : result.pods) {
    sums.evicted += pod.evicted ? 1 : 0;
    sums.restarted += pod.restarts;
  }
  for (const WorkloadResult& each : result.workloads) sums.unavailable += each.unavailable;
  for (const RequestClass& each : result.requests) {
    sums.requests += each.requests;
    sums.bytes += each.bytes;
  }
  return sums;
}

void add_totals(std::vector<FigurePair>& figures, const Sums& a, const Sums& b) {
  const auto number = [](auto value) { return static_cast<double>(value); };
  figures.push_back({"total", "evicted", Unit::count, number(a.evicted), number(b.evicted)});
  figures.push_back({"total", "restarted", Unit::count, number(a.restarted), number(b.restarted)});
  figures.push_back({"total", "unavailable", Unit::seconds, in_seconds(a.unavailable),
                     in_seconds(b.unavailable)});
  figures.push_back({"total", "requests", Unit::count, number(a.requests), number(b.requests)});
  figures.push_back({"total", "bytes", Unit::bytes, number(a.bytes), number(b.bytes)});
}

// Returns whether something differs.
bool add_different(std::vector<FigurePair>& figures, std::vector<FigurePair> candidates) {
  const std::size_t before = figures.size();
  for (FigurePair& each : candidates) {
    if (each.a != each.b) figures.push_back(std::move(each));
  }
  return figures.size() != before;
}

std::string figure_text(double value, Unit unit) {
  switch (unit) {
    case Unit::seconds:
      return brief(std::chrono::duration_cast<Duration>(std::chrono::duration<double>(value)));
    case Unit::bytes:
      return brief_bytes(static_cast<std::uint64_t>(value));
    case Unit::count:
      break;
  }
  return std::to_string(static_cast<std::int64_t>(value));
}

// "-2", "+1m30s", "=".
std::string change_text(const FigurePair& figure) {
  if (figure.a == figure.b) return "=";
  const bool is_more = figure.b > figure.a;
  const double by = is_more ? figure.b - figure.a : figure.a - figure.b;
  return (is_more ? "+" : "-") + figure_text(by, figure.unit);
}

std::string shown_setting(const std::string& value) { return value.empty() ? "(unset)" : value; }

boost::json::object pair_json(const FigurePair& pair) {
  const char* unit = pair.unit == Unit::seconds ? "seconds"
                     : pair.unit == Unit::bytes ? "bytes"
                                                : "count";
  return {{"subject", pair.subject},
          {"measure", pair.measure},
          {"unit", unit},
          {"a", pair.a},
          {"b", pair.b}};
}

std::string settings_text(const Comparison& comparison) {
  if (comparison.settings.empty()) return "no setting differs\n";
  std::string text;
  for (const SettingPair& each : comparison.settings) {
    text +=
        wrapped(each.name + ": " + shown_setting(each.a) + " against " + shown_setting(each.b), 0);
  }
  return text;
}

}  // namespace

Comparison compare(const RunResult& a, const RunResult& b) {
  Comparison made{.title_a = "A", .title_b = "B"};
  made.headline_a = headline(a);
  made.headline_b = headline(b);
  made.settings = different_settings(a, b);
  if (made.settings.size() == 1) {
    made.title_a = shown_setting(clip(made.settings[0].a, title_width));
    made.title_b = shown_setting(clip(made.settings[0].b, title_width));
  }
  add_totals(made.figures, sums_of(a), sums_of(b));
  for (const auto& [left, right] : paired(a.workloads, b.workloads)) {
    const auto number = [](int value) { return static_cast<double>(value); };
    const bool differs = add_different(
        made.figures,
        {{left.name, "wanted", Unit::count, number(left.wanted), number(right.wanted)},
         {left.name, "evicted", Unit::count, number(left.evicted), number(right.evicted)},
         {left.name, "restarted", Unit::count, number(left.restarted), number(right.restarted)},
         {left.name, "unavailable", Unit::seconds, in_seconds(left.unavailable),
          in_seconds(right.unavailable)}});
    if (!differs) ++made.same_workloads;
  }
  for (const auto& [left, right] : paired(a.requests, b.requests)) {
    const auto number = [](std::uint64_t value) { return static_cast<double>(value); };
    add_different(
        made.figures,
        {{left.name, "requests", Unit::count, number(left.requests), number(right.requests)},
         {left.name, "bytes", Unit::bytes, number(left.bytes), number(right.bytes)}});
  }
  for (const ExpectationResult& each : a.expectations) {
    const auto other = std::find_if(
        b.expectations.begin(), b.expectations.end(),
        [&each](const ExpectationResult& candidate) { return candidate.text == each.text; });
    if (other == b.expectations.end() || other->met == each.met) continue;
    made.expectations.push_back({each.text, each.met, other->met});
  }
  return made;
}

std::string comparison_table(const Comparison& comparison, const Palette& palette) {
  std::string text = settings_text(comparison) + "\n";
  text += wrapped(comparison.title_a + ": " + comparison.headline_a, 0);
  text += wrapped(comparison.title_b + ": " + comparison.headline_b, 0) + "\n";
  Columns table({"WHAT", "", comparison.title_a, comparison.title_b, "CHANGE"}, 2);
  for (const FigurePair& each : comparison.figures) {
    const bool is_harm =
        each.measure == "evicted" || each.measure == "restarted" || each.measure == "unavailable";
    const Tint tint = each.a == each.b || !is_harm ? Tint::plain
                      : each.b < each.a            ? Tint::good
                                                   : Tint::bad;
    table.add({{each.subject},
               {each.measure},
               {figure_text(each.a, each.unit)},
               {figure_text(each.b, each.unit)},
               {change_text(each), tint}});
  }
  text += table.text(palette);
  if (comparison.same_workloads > 0) {
    text += plural(comparison.same_workloads, "workload") + " without a difference\n";
  }
  for (const ExpectationPair& each : comparison.expectations) {
    text += wrapped(
        "met only with " + (each.a ? comparison.title_a : comparison.title_b) + ": " + each.text,
        0);
  }
  return text;
}

std::string comparison_json(const Comparison& comparison) {
  boost::json::array settings;
  for (const SettingPair& each : comparison.settings) {
    settings.push_back(boost::json::object{{"name", each.name}, {"a", each.a}, {"b", each.b}});
  }
  boost::json::array figures;
  for (const FigurePair& each : comparison.figures) figures.push_back(pair_json(each));
  boost::json::array expectations;
  for (const ExpectationPair& each : comparison.expectations) {
    expectations.push_back(boost::json::object{{"text", each.text}, {"a", each.a}, {"b", each.b}});
  }
  const boost::json::object document{
      {"kind", "RunComparison"},
      {"version", 1},
      {"a",
       boost::json::object{{"title", comparison.title_a}, {"headline", comparison.headline_a}}},
      {"b",
       boost::json::object{{"title", comparison.title_b}, {"headline", comparison.headline_b}}},
      {"settings", std::move(settings)},
      {"figures", std::move(figures)},
      {"expectations", std::move(expectations)},
      {"sameWorkloads", comparison.same_workloads}};
  return sync::wire::serialize(document) + "\n";
}

}  // namespace holdfast::agent::lab
