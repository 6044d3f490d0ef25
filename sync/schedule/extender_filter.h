// The filter, prioritize and bind verbs of extenders: the bodies of requests and answers, and how
// an answer is applied. preemption/extender_wire.h has the preempt verb.
//
// Field names are capitalised, because upstream's Go types have no JSON tags. In answers their case
// is ignored.

#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sync/schedule/attempt.h"
#include "sync/schedule/preemption/extenders.h"

namespace holdfast::sync::schedule {

// The request of filter and prioritize. It contains whole nodes, or only their names if the
// extender is node_cache_capable.
[[nodiscard]] std::string filter_request(const ExtenderSettings& extender, const Pod& pod,
                                         const Nodes& nodes);

struct FilterAnswer {
  std::vector<std::string> nodes;                   // that fit
  std::map<std::string, std::string> failed;        // by node: the reason
  std::map<std::string, std::string> unresolvable;  // by node; removing pods would not help

  bool operator==(const FilterAnswer&) const = default;
};
// Errors: invalid, with the field that is wrong, or with the extender's own error message.
[[nodiscard]] Result<FilterAnswer> read_filter_answer(const ExtenderSettings& extender,
                                                      std::string_view body);

// Removes the nodes that the extender rejects from `feasible_nodes` and adds the reasons to its
// diagnosis. Errors: invalid (the answer names a node that was not asked about); then nothing has
// changed.
[[nodiscard]] Status remove_rejected_nodes(const ExtenderSettings& extender,
                                           const FilterAnswer& answer,
                                           FeasibleNodes& feasible_nodes);

using HostScores = std::map<std::string, std::int64_t, std::less<>>;
// Scores range from 0 to 10. Errors: invalid, naming the field that is wrong.
[[nodiscard]] Result<HostScores> read_prioritize_answer(std::string_view body);

// Adds an extender's scores, scaled to 0..100 and multiplied by `weight`, to `scores`, which has
// one score for each of `nodes` or is empty.
void add_scores(const HostScores& answer, std::int64_t weight, const Nodes& nodes, Scores& scores);

[[nodiscard]] std::string bind_request(const PodView& pod, std::string_view node);
// Errors: invalid, with the field that is wrong, or with the extender's own error message.
[[nodiscard]] Status read_bind_answer(std::string_view body);

}  // namespace holdfast::sync::schedule
