#include "agent/lab/result/expectations.h"

#include <algorithm>
#include <functional>
#include <string>

#include "agent/lab/result/words.h"
#include "platform/check.h"

namespace holdfast::agent::lab {
namespace {

constexpr std::size_t places_max = 3;

// What was measured: the sum, and when and where each part of it was found.
struct Measured {
  double value = 0;
  std::vector<std::pair<Duration, std::string>> parts;  // of whole numbers, in any order

  void add(Duration at, std::string what) {
    value += 1;
    parts.emplace_back(at, std::move(what));
  }
};

bool concerns(const std::string& of, std::initializer_list<std::string_view> names) {
  if (of.empty()) return true;
  return std::any_of(names.begin(), names.end(), [&of](std::string_view name) {
    const std::size_t slash = name.find('/');
    return name == of || (slash != std::string_view::npos && name.substr(slash + 1) == of);
  });
}

// When the pod's containers started, the first time included, as far as that was seen.
std::vector<Duration> starts_of(const PodResult& pod) {
  std::vector<Duration> starts;
  const Span* before = nullptr;
  for (const Span& span : pod.running) {
    const bool follows = before != nullptr && before->end == span.begin;
    if (!follows || span.state == "starting") starts.push_back(span.begin);
    before = &span;
  }
  if (starts.empty()) starts.push_back(pod.created);
  return starts;
}

// Restarts are the last starts. There are fewer of them if containers of a pod restarted together,
// or so quickly that it was not seen.
void add_restarts(Measured& measured, const PodResult& pod) {
  const std::vector<Duration> starts = starts_of(pod);
  const auto last = static_cast<int>(starts.size()) - 1;
  for (int left = pod.restarts - 1; left >= 0; --left) {
    const int at = std::clamp(last - left, std::min(1, last), last);
    measured.add(starts[static_cast<std::size_t>(at)], pod.name);
  }
}

Measured measure_pods(const Expectation& expected, const RunResult& result) {
  Measured measured;
  for (const PodResult& pod : result.pods) {
    if (!concerns(expected.of, {pod.site, pod.node, pod.workload})) continue;
    if (expected.measure == Measure::evictions) {
      if (pod.evicted) measured.add(*pod.evicted, pod.name);
      continue;
    }
    add_restarts(measured, pod);
  }
  return measured;
}

Measured measure_unavailable(const Expectation& expected, const RunResult& result) {
  Measured measured;
  for (const WorkloadResult& workload : result.workloads) {
    if (!concerns(expected.of, {workload.name, workload.site})) continue;
    measured.value += std::chrono::duration<double>(workload.unavailable).count();
    for (const Span& span : workload.shortfall) {
      measured.parts.emplace_back(span.begin, workload.name);
    }
  }
  return measured;
}

Measured measure_nodes(const Expectation& expected, const RunResult& result) {
  Measured measured;
  for (const NodeResult& node : result.nodes) {
    if (!concerns(expected.of, {node.site, node.name})) continue;
    if (expected.measure == Measure::bytes) {
      measured.value += static_cast<double>(node.bytes);
      continue;
    }
    const auto lost = std::find_if(node.ready.begin(), node.ready.end(), [](const Span& span) {
      return span.state == "Unknown" || span.state == "False";
    });
    if (lost != node.ready.end()) measured.add(lost->begin, node.name);
  }
  return measured;
}

Measured measure(const Expectation& expected, const RunResult& result) {
  Measured measured;
  switch (expected.measure) {
    case Measure::restarts:
    case Measure::evictions:
      return measure_pods(expected, result);
    case Measure::unavailable:
      return measure_unavailable(expected, result);
    case Measure::bytes:
    case Measure::not_ready:
      return measure_nodes(expected, result);
    case Measure::requests:
      measured.value = static_cast<double>(result.requests_per_second);
      return measured;
    case Measure::duplicates:
      measured.value = static_cast<double>(result.duplicates);
      return measured;
  }
  UNREACHABLE();
}

// "12", "0.5": without a fraction that is zero.
std::string number(double value) {
  std::string text = std::to_string(value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

// "1 restart", "2 restarts".
std::string amount(double value, Measure measure) {
  const std::string text = number(value) + " ";
  const std::string several = value == 1 ? "" : "s";
  switch (measure) {
    case Measure::restarts:
      return text + "restart" + several;
    case Measure::evictions:
      return text + "eviction" + several;
    case Measure::unavailable:
      return text + "s unavailable";
    case Measure::requests:
      return text + "requests/s";
    case Measure::bytes:
      return text + "byte" + several;
    case Measure::not_ready:
      return text + "node" + several + " not ready";
    case Measure::duplicates:
      return text + "duplicate" + several;
  }
  UNREACHABLE();
}

// "2 evictions: default/web-1 at 15m10s, default/web-2 at 15m10s"
std::string describe(const Measured& measured, Measure measure) {
  std::string text = amount(measured.value, measure);
  std::size_t shown = 0;
  for (const auto& [at, what] : measured.parts) {
    if (shown == places_max) return text + ", ...";
    text += (shown++ == 0 ? ": " : ", ") + what + " at " + brief(at);
  }
  return text;
}

}  // namespace

std::vector<ExpectationResult> check_expectations(const Scenario& scenario,
                                                  const RunResult& result) {
  std::vector<ExpectationResult> results;
  for (const Expectation& expected : scenario.expectations) {
    Measured measured = measure(expected, result);
    std::sort(measured.parts.begin(), measured.parts.end());
    double reached = measured.value;
    if (expected.within) {
      const Duration limit = first_event(scenario) + *expected.within;
      reached = static_cast<double>(
          std::count_if(measured.parts.begin(), measured.parts.end(),
                        [limit](const auto& part) { return part.first <= limit; }));
    }
    const bool enough = !expected.at_least || reached >= *expected.at_least;
    const bool few = !expected.at_most || measured.value <= *expected.at_most;
    results.push_back({expected.text, enough && few, describe(measured, expected.measure)});
  }
  return results;
}

}  // namespace holdfast::agent::lab
