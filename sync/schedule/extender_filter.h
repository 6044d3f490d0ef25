// The filter, prioritize and bind verbs of extenders: bodies both ways, and what answers do.
//
// Field names are capitalised, as upstream's types have no tags; in answers their case is nothing.
// The preempt verb is in preemption/.

#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sync/schedule/attempt.h"
#include "sync/schedule/preemption/extenders.h"

namespace holdfast::sync::schedule {

// Of filter and prioritize: the nodes whole, or by name when the extender keeps its own cache.
[[nodiscard]] std::string filter_request(const ExtenderSettings& extender, const Pod& pod,
                                         const Nodes& nodes);

struct FilterAnswer {
  std::vector<std::string> nodes;                   // that would do
  std::map<std::string, std::string> failed;        // by node, why not
  std::map<std::string, std::string> unresolvable;  // the same; taking pods away would not help

  bool operator==(const FilterAnswer&) const = default;
};
// Errors: invalid, naming what is wrong and where, or with the extender's own words.
[[nodiscard]] Result<FilterAnswer> read_filter_answer(const ExtenderSettings& extender,
                                                      std::string_view body);

// Leaves the nodes that the extender lets through, and notes why the others are out.
// Errors: invalid (a node that was not asked about); then nothing has changed.
[[nodiscard]] Status strike_out(const ExtenderSettings& extender, const FilterAnswer& answer,
                                Survey& survey);

using HostScores = std::map<std::string, std::int64_t, std::less<>>;
// Errors: invalid, naming what is wrong and where. A score is 0 to 10.
[[nodiscard]] Result<HostScores> read_prioritize_answer(std::string_view body);

// Adds an extender's scores, `weight` times, to those of `nodes`; empty ones become zeros first.
void add_scores(const HostScores& answer, std::int64_t weight, const Nodes& nodes, Scores& scores);

[[nodiscard]] std::string bind_request(const PodView& pod, std::string_view node);
// Errors: invalid, naming what is wrong, or with the extender's own words.
[[nodiscard]] Status read_bind_answer(std::string_view body);

}  // namespace holdfast::sync::schedule
