// The input of cases of scheduling: objects, statuses, filters and extenders as the rules take
// them.

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sync/schedule/filters/plugins.h"
#include "sync/schedule/fit_error.h"
#include "sync/schedule/nominator.h"
#include "sync/schedule/preemption/budgets.h"
#include "sync/schedule/preemption/preemption.h"
#include "test/cases/fields.h"

namespace holdfast::cases {

// Later than every time in a case; stands for a start time that is missing.
inline constexpr WallTime case_now{std::chrono::seconds(4'000'000'000)};

// Which behaviour a case is run with: plain 1.32, or ours, with the later corrections.
enum class Behaviour : bool { plain, corrected };

// Everything `given` has of it: nodes, pods that have a node, budgets, nominated pods. A malformed
// object throws, as Boost.JSON does.
struct Input {
  explicit Input(const json::object& given);

  [[nodiscard]] sync::schedule::PodRef pod(const json::value& object);
  // Of a key of the case.
  [[nodiscard]] sync::schedule::PodRef pod_at(std::string_view key);
  [[nodiscard]] std::vector<sync::schedule::PodRef> pods(const json::array& objects);
  // By position in the cluster; names that are not there are left out.
  [[nodiscard]] sync::schedule::NodeFitStatuses verdicts() const;

  const json::object& given;
  sync::schedule::Cluster cluster;
  sync::schedule::Budgets budgets;
  sync::schedule::Nominator nominator;
};

[[nodiscard]] sync::schedule::FitStatus read_status(const json::value& status);
// Of "nodeStatuses" and the rest of a fit error, whatever nodes there are.
[[nodiscard]] sync::schedule::Diagnosis read_diagnosis(const json::object& object);

// "filters" of a case; real ones and doubles. An unknown one throws.
[[nodiscard]] std::vector<sync::schedule::Plugin> read_filters(const json::object& given,
                                                               Behaviour behaviour);
// The options of NodeResourcesFit, if it is among them.
[[nodiscard]] sync::schedule::FitOptions read_fit_options(const json::object& given,
                                                          Behaviour behaviour);

[[nodiscard]] std::vector<sync::schedule::ExtenderSettings> read_extenders(
    const json::object& given);
// What the double of that name answers about these candidates.
[[nodiscard]] Result<sync::schedule::ExtenderAnswer> ask_extender(
    const json::object& given, const std::string& name,
    const std::vector<sync::schedule::Candidate>& candidates);

[[nodiscard]] std::vector<std::string> names_of(const std::vector<sync::schedule::PodRef>& pods);
// {"node", "victims": [pod], "numPDBViolations"}
[[nodiscard]] sync::schedule::Candidate read_candidate(Input& input, const json::object& object);

}  // namespace holdfast::cases
