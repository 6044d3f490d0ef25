#include "agent/lab/result/table.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "agent/lab/result/summary.h"
#include "agent/lab/result/words.h"

namespace holdfast::agent::lab {
namespace {

constexpr std::size_t workloads_shown = 30;
constexpr std::size_t sites_shown = 20;
constexpr std::size_t events_shown = 50;
constexpr std::size_t chart_width = 60;
constexpr int chart_height = 4;

// A number of which 0 is best.
Cell damage(int count) { return {std::to_string(count), count > 0 ? Tint::bad : Tint::plain}; }

Cell duration_cell(Duration duration) { return {brief(duration)}; }

std::string workloads_text(const RunResult& result, const Palette& palette) {
  if (result.workloads.empty()) return {};
  std::vector<const WorkloadResult*> shown;
  shown.reserve(result.workloads.size());
  for (const WorkloadResult& each : result.workloads) shown.push_back(&each);
  if (shown.size() > workloads_shown) {
    std::stable_sort(shown.begin(), shown.end(), [](const auto* left, const auto* right) {
      return std::tuple(left->evicted + left->restarted, left->unavailable) >
             std::tuple(right->evicted + right->restarted, right->unavailable);
    });
    shown.resize(workloads_shown);
  }
  Columns table({"WORKLOAD", "SITE", "WANTED", "EVICTED", "RESTARTED", "UNAVAILABLE"}, 2);
  for (const WorkloadResult* each : shown) {
    const Tint tint = each->unavailable > Duration::zero() ? Tint::bad : Tint::plain;
    table.add({{each->name},
               {each->site.empty() ? "any" : each->site},
               {std::to_string(each->wanted)},
               damage(each->evicted),
               damage(each->restarted),
               {brief(each->unavailable), tint}});
  }
  std::string text = "\n" + table.text(palette);
  const std::size_t more = result.workloads.size() - shown.size();
  if (more > 0) text += "and " + plural(more, "workload") + " to which less happened\n";
  return text;
}

std::string sites_text(const std::vector<Tally>& sites, const Palette& palette) {
  Columns table({"SITE", "NODES", "CUT OFF", "NOT READY", "TAINTED", "EVICTED", "RESTARTED"});
  std::vector<Tally> shown = sites;
  if (shown.size() > sites_shown) {
    shown = most_affected_first(std::move(shown));
    shown.resize(sites_shown);
  }
  for (const Tally& site : shown) {
    table.add({{site.name},
               {std::to_string(site.nodes)},
               {std::to_string(site.nodes_cut)},
               {std::to_string(site.nodes_not_ready)},
               {std::to_string(site.nodes_tainted)},
               damage(site.evicted),
               damage(site.restarted)});
  }
  std::string text = "\n" + table.text(palette);
  const std::size_t more = sites.size() - shown.size();
  if (more > 0) text += "and " + plural(more, "site") + " to which less happened\n";
  return text;
}

std::string nodes_text(const std::vector<Tally>& nodes, const Palette& palette) {
  if (nodes.empty()) return {};
  Columns table({"NODE", "SITE", "CUT OFF", "NOT READY", "TAINTED", "EVICTED", "RESTARTED"}, 2);
  for (const Tally& node : nodes) {
    table.add({{node.name},
               {node.site},
               duration_cell(node.cut),
               duration_cell(node.not_ready),
               duration_cell(node.tainted),
               damage(node.evicted),
               damage(node.restarted)});
  }
  return "\n" + table.text(palette);
}

std::string requests_text(const RunResult& result, const Palette& palette) {
  if (result.requests.empty()) return {};
  Columns table({"REQUESTS", "COUNT", "PER SECOND", "BYTES"});
  const double seconds = std::chrono::duration<double>(result.duration).count();
  RequestClass sum{"total", 0, 0};
  const auto add = [&table, seconds](const RequestClass& each, Tint tint) {
    const double rate = seconds > 0 ? static_cast<double>(each.requests) / seconds : 0;
    table.add({{each.name, tint},
               {std::to_string(each.requests), tint},
               {brief_number(rate), tint},
               {counted_bytes(each.bytes), tint}});
  };
  for (const RequestClass& each : result.requests) {
    sum.requests += each.requests;
    sum.bytes += each.bytes;
    if (each.requests > 0) add(each, Tint::plain);
  }
  add(sum, Tint::bold);
  return "\n" + table.text(palette);
}

// Columns of '#', the highest of which reaches the top; every value above 0 is visible.
std::string bars(const Series& series, double highest) {
  const std::string top = brief_number(highest);
  std::string text;
  for (int row = chart_height; row > 0; --row) {
    std::string line = (row == chart_height ? top : std::string(top.size(), ' ')) + " |";
    for (const double value : series.values) {
      line += std::ceil(value / highest * chart_height) >= row ? '#' : ' ';
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  const std::string margin(top.size(), ' ');
  const std::string end = brief(series.interval * static_cast<std::int64_t>(series.values.size()));
  const std::size_t width = std::max(series.values.size(), end.size() + 3);
  text += margin + " +" + std::string(width, '-') + "\n";
  return text + margin + "  0s" + std::string(width - 2 - end.size(), ' ') + end + "\n";
}

std::string evictions_text(const RunResult& result, const Palette& palette) {
  for (const Series& series : result.series) {
    if (series.name != "evictions") continue;
    const Peak peak = peak_of(series);
    if (peak.value <= 0) return "\nNo pod was evicted.\n";
    // Empty intervals up to the end are part of the picture.
    Series whole = series;
    const auto wanted = static_cast<std::size_t>(
        std::clamp<std::int64_t>(result.duration / series.interval, 0, 10'000'000));
    if (whole.values.size() < wanted) whole.values.resize(wanted);
    const std::string title =
        "EVICTIONS PER " + brief(series.interval) + " (most at " + brief(peak.at) + ")";
    return "\n" + palette.paint(title, Tint::bold) + "\n" +
           bars(shortened(whole, chart_width), peak.value);
  }
  return {};
}

std::string expectations_text(const RunResult& result, const Palette& palette) {
  if (result.expectations.empty()) return {};
  std::string text = "\n" + palette.paint("EXPECTATIONS", Tint::bold) + "\n";
  for (const ExpectationResult& each : result.expectations) {
    const std::string lines = wrapped(each.text, 9);
    const std::string verdict = each.met ? "met      " : "NOT MET  ";
    text += palette.paint(verdict, each.met ? Tint::good : Tint::bad) +
            (lines.empty() ? "\n" : lines.substr(9));
    if (!each.found.empty()) text += wrapped("found: " + each.found, 9);
  }
  return text;
}

std::string violation_text(const Violation& violation, const Palette& palette) {
  std::string text =
      "\n" + palette.paint("VIOLATION after " + brief(violation.at), Tint::bad) + "\n";
  text += wrapped(violation.invariant + ": " + violation.what, 2);
  if (violation.last_events.empty()) return text;
  text += "last events:\n";
  const std::size_t count = violation.last_events.size();
  for (std::size_t at = count > events_shown ? count - events_shown : 0; at < count; ++at) {
    text += wrapped(violation.last_events[at], 2);
  }
  return text;
}

}  // namespace

std::string result_table(const RunResult& result, const Palette& palette) {
  const Tallies tallies = tally(result);
  std::string answer = wrapped(headline(result), 0);
  if (palette.has_colour && !answer.empty()) {
    answer.pop_back();
    answer = palette.paint(answer, Tint::bold) + "\n";
  }
  const std::string about = result.about.empty() ? "" : ": " + result.about;
  std::string text = answer + "\n" + wrapped(clip(result.scenario + about, 2000), 0) +
                     wrapped(circumstances(result), 0);
  text += workloads_text(result, palette);
  text += result.nodes.size() < nodes_by_site ? nodes_text(tallies.nodes, palette)
                                              : sites_text(tallies.sites, palette);
  text += requests_text(result, palette);
  text += evictions_text(result, palette);
  text += expectations_text(result, palette);
  if (result.violation) text += violation_text(*result.violation, palette);
  return text;
}

}  // namespace holdfast::agent::lab
