#include "agent/lab/scenario/link_profile.h"

#include <map>

#include "agent/lab/scenario/problems.h"
#include "agent/lab/scenario/units.h"
#include "platform/text.h"

namespace holdfast::agent::lab {
namespace {

using std::chrono::milliseconds;

constexpr std::int64_t kbit = 125;  // bytes

LinkProfile profile(const char* name, LinkQuality both, std::int64_t up, std::int64_t down) {
  LinkProfile made{.name = name, .up = both, .down = both, .trace = {}};
  made.up.rate = up;
  made.down.rate = down;
  return made;
}

const std::vector<LinkProfile>& named_profiles() {
  static const std::vector<LinkProfile> profiles = {
      profile("ethernet", {.latency = milliseconds(10), .jitter = milliseconds(4)}, 100'000 * kbit,
              100'000 * kbit),
      profile("4g", {.latency = milliseconds(20), .jitter = milliseconds(13), .loss = 0.001},
              13'600 * kbit, 14'700 * kbit),
      profile("satellite",
              {.latency = milliseconds(280), .jitter = milliseconds(40), .loss = 0.005},
              3'000 * kbit, 12'000 * kbit),
      profile("nb-iot", {.latency = milliseconds(800), .jitter = milliseconds(800), .loss = 0.01},
              66 * kbit, 26 * kbit),
  };
  return profiles;
}

constexpr double latency_max_ms = 600'000;
constexpr double rate_max_kbit = 1e9;
constexpr double time_max_s = 3.2e9;  // 100 years

// One cell. Errors: what is wrong with it.
using ReadCell = Status (*)(std::string_view cell, TracePoint& point);

Result<double> number_up_to(std::string_view cell, double most) {
  TRY(const double value, parse_number(cell));
  if (value < 0 || value > most) {
    return fail(Errc::invalid, quoted_text(cell) + " is not within 0 to " +
                                   std::to_string(static_cast<std::int64_t>(most)));
  }
  return value;
}

Status read_ms(std::string_view cell, Duration& out) {
  TRY(const double value, number_up_to(cell, latency_max_ms));
  out = std::chrono::duration_cast<Duration>(std::chrono::duration<double, std::milli>(value));
  return {};
}

Status read_loss(std::string_view cell, double& out) {
  TRY(out, parse_number(cell));
  if (out >= 0 && out < 1) return {};
  return fail(Errc::invalid, quoted_text(cell) + " is not a fraction from 0 to below 1");
}

Status read_kbit(std::string_view cell, std::int64_t& out) {
  TRY(const double value, number_up_to(cell, rate_max_kbit));
  out = static_cast<std::int64_t>(value * static_cast<double>(kbit));
  return {};
}

Status read_at(std::string_view cell, TracePoint& point) {
  if (const auto seconds = parse_number(cell)) {
    TRY(const double value, number_up_to(cell, time_max_s));
    point.at = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(value));
    return {};
  }
  const auto parsed = parse_duration(cell);
  if (!parsed || *parsed < Duration::zero()) {
    return fail(Errc::invalid, "not a time like 90 or 1m30s: " + quoted_text(cell));
  }
  point.at = *parsed;
  return {};
}

Status read_cut(std::string_view cell, TracePoint& point) {
  point.is_cut = cell == "1" || cell == "true";
  if (point.is_cut || cell == "0" || cell == "false") return {};
  return fail(Errc::invalid, "expected 0, 1, true or false, not " + quoted_text(cell));
}

const std::vector<std::pair<std::string_view, ReadCell>>& trace_columns() {
  static const std::vector<std::pair<std::string_view, ReadCell>> columns = {
      {"at", read_at},
      {"up_latency_ms", [](auto cell, auto& point) { return read_ms(cell, point.up.latency); }},
      {"up_jitter_ms", [](auto cell, auto& point) { return read_ms(cell, point.up.jitter); }},
      {"up_loss", [](auto cell, auto& point) { return read_loss(cell, point.up.loss); }},
      {"up_rate_kbit", [](auto cell, auto& point) { return read_kbit(cell, point.up.rate); }},
      {"down_latency_ms", [](auto cell, auto& point) { return read_ms(cell, point.down.latency); }},
      {"down_jitter_ms", [](auto cell, auto& point) { return read_ms(cell, point.down.jitter); }},
      {"down_loss", [](auto cell, auto& point) { return read_loss(cell, point.down.loss); }},
      {"down_rate_kbit", [](auto cell, auto& point) { return read_kbit(cell, point.down.rate); }},
      {"cut", read_cut}};
  return columns;
}

struct TraceColumn {
  std::string_view name;
  ReadCell read = nullptr;
};

Result<std::vector<TraceColumn>> read_header(std::string_view line) {
  std::vector<TraceColumn> columns;
  std::vector<std::string_view> known;
  for (const auto& [name, read] : trace_columns()) known.push_back(name);
  for (const std::string_view cell : split(line, ',')) {
    const std::string_view given = trim(cell);
    TraceColumn column;
    for (const auto& [name, read] : trace_columns()) {
      if (name == given) column = {name, read};
    }
    if (column.read == nullptr) {
      const std::string hint = ScenarioProblems("").hint(given, known);
      return fail(Errc::invalid,
                  "unknown column " + quoted_text(given) +
                      (hint.empty() ? "; known are " + alternatives(known, "and") : hint));
    }
    for (const TraceColumn& other : columns) {
      if (other.name != column.name) continue;
      return fail(Errc::invalid, "column " + std::string(given) + " stands twice");
    }
    columns.push_back(column);
  }
  for (const TraceColumn& column : columns) {
    if (column.name == "at") return columns;
  }
  return fail(Errc::invalid, "column at is missing");
}

Result<TracePoint> read_point(std::string_view line, const std::vector<TraceColumn>& columns) {
  const auto cells = split(line, ',');
  if (cells.size() != columns.size()) {
    return fail(Errc::invalid, std::to_string(cells.size()) + " values for " +
                                   std::to_string(columns.size()) + " columns");
  }
  TracePoint point;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (const Status read = columns[i].read(trim(cells[i]), point); !read) {
      return fail("column " + std::string(columns[i].name), read.error());
    }
  }
  return point;
}

Status check_order(const std::vector<TracePoint>& points, const TracePoint& next) {
  if (points.empty() && next.at != Duration::zero()) {
    return fail(Errc::invalid, "column at: the first time must be 0");
  }
  if (points.empty() || points.back().at < next.at) return {};
  return fail(Errc::invalid, "column at: not after the line before");
}

}  // namespace

const std::vector<std::string_view>& profile_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> made;
    for (const LinkProfile& each : named_profiles()) made.push_back(each.name);
    return made;
  }();
  return names;
}

std::optional<LinkProfile> named_profile(std::string_view name) {
  for (const LinkProfile& each : named_profiles()) {
    if (each.name == name) return each;
  }
  return std::nullopt;
}

Result<std::vector<TracePoint>> parse_trace(const std::string& file, std::string_view text,
                                            const TraceLimits& limits) {
  std::vector<TraceColumn> columns;
  std::vector<TracePoint> points;
  int number = 0;
  for (const std::string_view whole : split(text, '\n')) {
    ++number;
    const std::string_view line = trim(whole);
    if (line.empty() || line.front() == '#') continue;
    const std::string where = file + ":" + std::to_string(number);
    if (columns.empty()) {
      auto header = read_header(line);
      if (!header) return fail(where, header.error());
      columns = *std::move(header);
      continue;
    }
    auto point = read_point(line, columns);
    if (!point) return fail(where, point.error());
    if (const Status order = check_order(points, *point); !order) return fail(where, order.error());
    if (points.size() >= limits.points) {
      return fail(Errc::exhausted,
                  where + ": more than " + std::to_string(limits.points) + " points");
    }
    points.push_back(*std::move(point));
  }
  if (points.empty()) return fail(Errc::invalid, file + ": the trace has no points");
  return points;
}

}  // namespace holdfast::agent::lab
