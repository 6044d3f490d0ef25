// Two results side by side: which settings differ, and what that changed.

#pragma once

#include <string>
#include <vector>

#include "agent/lab/result/columns.h"
#include "agent/lab/result/result.h"

namespace holdfast::agent::lab {

// A setting that differs; an empty text means that it was not set.
struct SettingPair {
  std::string name;
  std::string a;
  std::string b;
  bool operator==(const SettingPair&) const = default;
};

enum class Unit : std::uint8_t { count, seconds, bytes };

struct FigurePair {
  std::string subject;  // "total", "deployment/web", "lease"
  std::string measure;  // "evicted", "restarted", "unavailable", "requests", "bytes"
  Unit unit = Unit::count;
  double a = 0;
  double b = 0;
  bool operator==(const FigurePair&) const = default;
};

struct ExpectationPair {
  std::string text;
  bool a = false;
  bool b = false;
  bool operator==(const ExpectationPair&) const = default;
};

struct Comparison {
  // What the columns are called: the values of the only setting that differs, else "A" and "B".
  std::string title_a;
  std::string title_b;
  std::string headline_a;
  std::string headline_b;
  std::vector<SettingPair> settings;          // by name; also scenario, mode, seed and duration
  std::vector<FigurePair> figures;            // totals always, everything else only if it differs
  std::vector<ExpectationPair> expectations;  // of both results, that were met in only one
  std::size_t same_workloads = 0;
  bool operator==(const Comparison&) const = default;
};

// Pure. Workloads and classes of requests that only one of the results has count as 0 in the other.
[[nodiscard]] Comparison compare(const RunResult& a, const RunResult& b);

// 80 columns wide; begins with "node-monitor-grace-period: 40s against 1m30s".
[[nodiscard]] std::string comparison_table(const Comparison& comparison,
                                           const Palette& palette = {});

// One line: {"kind":"RunComparison","version":1,...}. Durations are in seconds.
[[nodiscard]] std::string comparison_json(const Comparison& comparison);

}  // namespace holdfast::agent::lab
