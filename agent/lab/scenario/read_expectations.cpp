// The section `expect`: what must hold at the end.

#include <cmath>
#include <optional>

#include "agent/lab/scenario/sections.h"
#include "agent/lab/scenario/units.h"

namespace holdfast::agent::lab {
namespace {

enum class Amount : std::uint8_t { count, seconds, bytes, number };

struct MeasureKind {
  std::string_view key;
  Measure measure;
  NameKinds of;  // what `of` may name; 0: nothing
  Amount amount;
  bool has_within;  // it counts things that happen, each at a time
};

constexpr NameKinds places = name_kind::site | name_kind::node;
constexpr MeasureKind measure_kinds[] = {
    {"restarts", Measure::restarts, places | name_kind::workload, Amount::count, true},
    {"evictions", Measure::evictions, places | name_kind::workload, Amount::count, true},
    {"unavailable", Measure::unavailable, name_kind::workload, Amount::seconds, false},
    {"requests-per-second", Measure::requests, 0, Amount::number, false},
    {"bytes", Measure::bytes, places, Amount::bytes, false},
    {"not-ready", Measure::not_ready, places, Amount::count, true},
    {"duplicates", Measure::duplicates, name_kind::workload, Amount::count, false},
};

// The amount in `text`, in the unit of the measure.
Result<double> read_expected(Amount amount, const std::string& text) {
  if (amount == Amount::bytes) {
    TRY(const std::int64_t bytes, parse_byte_size(text));
    return static_cast<double>(bytes);
  }
  if (amount == Amount::seconds) {
    if (const auto duration = parse_duration(text); duration && *duration >= Duration::zero()) {
      return std::chrono::duration<double>(*duration).count();
    }
    return fail(Errc::invalid, "not a duration like 30s: " + quoted_text(text));
  }
  TRY(const double value, parse_number(text));
  const bool is_whole = value == std::floor(value);
  if (value < 0 || value > 1e15 || (amount == Amount::count && !is_whole)) {
    return fail(Errc::invalid, "not a count: " + quoted_text(text));
  }
  return value;
}

ReadItem amount_reader(FieldReader& fields, Amount amount, std::optional<double>& out,
                       std::string& text) {
  return [&fields, amount, &out, &text](const YamlItem& item) {
    const std::string* given = fields.word(item, "an amount");
    if (given == nullptr) return;
    const auto value = read_expected(amount, *given);
    if (!value) return fields.wrong(item, value.error().what);
    out = *value;
    text = *given;
  };
}

const MeasureKind* find_measure(FieldReader& fields, const YamlItem& item) {
  const MeasureKind* found = nullptr;
  std::vector<std::string_view> known;
  for (const MeasureKind& kind : measure_kinds) {
    known.push_back(kind.key);
    if (item.node.find(kind.key) == nullptr) continue;
    if (found != nullptr) {
      fields.wrong(
          item, "has two measures: " + std::string(found->key) + " and " + std::string(kind.key));
      return nullptr;
    }
    found = &kind;
  }
  if (found != nullptr) return found;
  for (const YamlEntry& entry : item.node.entries) {
    const std::string hint = fields.problems().hint(entry.key, known);
    if (hint.empty()) continue;
    fields.problems().add(entry.place, path_of(item.path, entry.key), "unknown measure" + hint);
    return nullptr;
  }
  fields.wrong(item, "has no measure; known are " + alternatives(known, "and"));
  return nullptr;
}

// The bounds of an expectation, as written.
struct Bounds {
  std::string exact;
  std::string least;
  std::string most;
  std::string within;
};

std::string text_of(const MeasureKind& kind, const std::string& of, const Bounds& bounds) {
  std::string text = std::string(kind.key) + (of.empty() ? "" : " of " + of) + ":";
  if (!bounds.exact.empty()) return text + " " + bounds.exact;
  if (!bounds.least.empty()) text += " at least " + bounds.least;
  if (!bounds.within.empty()) text += " within " + bounds.within;
  if (!bounds.most.empty()) {
    text += std::string(bounds.least.empty() ? "" : ",") + " at most " + bounds.most;
  }
  return text;
}

void check_bounds(FieldReader& fields, const YamlItem& item, const MeasureKind& kind,
                  const Expectation& made, const Bounds& bounds) {
  const bool has_bound = made.at_least || made.at_most;
  if (!bounds.exact.empty() && (!bounds.least.empty() || !bounds.most.empty())) {
    fields.wrong(item, "a number with " + std::string(kind.key) + " excludes at-least and at-most");
  } else if (!has_bound && item.node.find("at-least") == nullptr &&
             item.node.find("at-most") == nullptr) {
    fields.wrong(item, "at-least or at-most is missing");
  }
  if (made.at_least && made.at_most && *made.at_least > *made.at_most) {
    fields.wrong(item, "at-least is above at-most");
  }
  if (!made.within) return;
  if (!kind.has_within) {
    std::vector<std::string_view> known;
    for (const MeasureKind& each : measure_kinds) {
      if (each.has_within) known.push_back(each.key);
    }
    fields.wrong(
        {*item.node.find("within"), path_of(item.path, "within")},
        std::string(kind.key) + " has no within; only " + alternatives(known, "and") + " have it");
  } else if (item.node.find("at-least") == nullptr) {
    fields.wrong(item, "within needs at-least");
  }
}

void read_expectation(SectionReader& reader, const ScenarioNames& names, const YamlItem& item,
                      Scenario& scenario) {
  FieldReader& fields = reader.fields;
  if (item.node.kind != YamlNode::Kind::map) return fields.map(item, {});
  const MeasureKind* kind = find_measure(fields, item);
  if (kind == nullptr) return;
  Expectation made{.measure = kind->measure, .of = {}, .text = {}};
  made.line = item.node.place.source == 0 ? item.node.place.line : 0;
  std::optional<double> exact;
  Bounds bounds;
  const ReadItem exactly = [&fields, kind, &exact, &bounds](const YamlItem& value) {
    // "{restarts, of: a, at-most: 0}" has no value here.
    if (value.node.kind == YamlNode::Kind::null) return;
    amount_reader(fields, kind->amount, exact, bounds.exact)(value);
  };
  const ReadItem of = [&fields, &names, kind, &made](const YamlItem& value) {
    if (kind->of == 0) return fields.wrong(value, std::string(kind->key) + " is of everything");
    const std::string* name = fields.word(value, "a name");
    if (name == nullptr) return;
    const auto complaint = names.complaint(*name, kind->of, fields.problems());
    if (!complaint.empty()) return fields.wrong(value, complaint);
    const Workload* workload = names.workload(*name);
    if (kind->measure == Measure::duplicates && workload != nullptr &&
        workload->kind != WorkloadKind::stateful_set) {
      return fields.wrong(value, *name + " is no statefulset");
    }
    made.of = workload == nullptr ? *name : workload->name;
  };
  Duration within{};
  fields.map(
      item, {{kind->key, exactly},
             {"of", of},
             {"at-least", amount_reader(fields, kind->amount, made.at_least, bounds.least)},
             {"at-most", amount_reader(fields, kind->amount, made.at_most, bounds.most)},
             {"within", fields.duration(within, std::chrono::milliseconds(1), scenario.duration)}});
  if (within > Duration::zero()) {
    made.within = within;
    bounds.within = item.node.find("within")->text;
  }
  if (exact) made.at_least = made.at_most = exact;
  check_bounds(fields, item, *kind, made, bounds);
  made.text = text_of(*kind, made.of, bounds);
  scenario.expectations.push_back(std::move(made));
}

}  // namespace

void read_expectations(SectionReader& reader, const YamlItem& item, Scenario& scenario) {
  const ScenarioNames names(scenario);
  reader.fields.list(item, reader.limits.expectations,
                     [&reader, &scenario, &names](const YamlItem& each) {
                       read_expectation(reader, names, each, scenario);
                     });
}

}  // namespace holdfast::agent::lab
