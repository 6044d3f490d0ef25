// Reads the "given" object of scheduling cases: objects, statuses, filters and extenders, in the
// types that the rules take.

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

// The current time in all cases, later than every time that they contain. The rules also use it
// for a pod without a start time.
inline constexpr WallTime case_now{std::chrono::seconds(4'000'000'000)};

// The behaviour with which a case is run: plain 1.32, or 1.32 with our corrections.
enum class Behaviour : bool { plain, corrected };

// The cluster of a case: nodes, pods that have a node, disruption budgets and nominated pods.
// `given` must outlive it. Throws Malformed if an object is malformed, or if two nodes have the
// same name or two pods the same uid.
struct Input {
  explicit Input(const json::object& given);

  [[nodiscard]] sync::schedule::PodRef pod(const json::value& object);
  // The pod in the field `key` of the case. Throws Malformed if there is none.
  [[nodiscard]] sync::schedule::PodRef pod_at(std::string_view key);
  [[nodiscard]] std::vector<sync::schedule::PodRef> pods(const json::array& objects);
  // The same, but two pods must not have the same uid.
  [[nodiscard]] std::vector<sync::schedule::PodRef> distinct_pods(const json::array& objects);
  // The node with this name. Throws Malformed, about `name`, if there is none.
  [[nodiscard]] const sync::schedule::NodeView& node(const json::value& name) const;
  // "nodeStatuses" by the nodes' positions in the cluster, without unknown nodes.
  [[nodiscard]] sync::schedule::NodeFitStatuses fit_statuses() const;

  const json::object& given;
  sync::schedule::Cluster cluster;
  sync::schedule::Budgets budgets;
  sync::schedule::Nominator nominator;
};

[[nodiscard]] sync::schedule::Code read_code(const json::value& name);
[[nodiscard]] sync::schedule::FitStatus read_status(const json::value& status);
// Reads a fit error: "nodeStatuses" and its other fields. The nodes need not exist.
[[nodiscard]] sync::schedule::Diagnosis read_diagnosis(const json::object& object);

// The "filters" of a case: plugins and test doubles. Throws Malformed if one is unknown.
[[nodiscard]] std::vector<sync::schedule::Plugin> read_filters(const json::object& given,
                                                               Behaviour behaviour);
// The options of NodeResourcesFit from the arguments of "filters"; else the defaults.
[[nodiscard]] sync::schedule::FitOptions read_fit_options(const json::object& given,
                                                          Behaviour behaviour);

[[nodiscard]] std::vector<sync::schedule::ExtenderSettings> read_extenders(
    const json::object& given);
// The answer of the test double with this name about the candidates. Throws Malformed if its
// behaviour is unknown.
[[nodiscard]] Result<sync::schedule::ExtenderAnswer> ask_extender(
    const json::object& given, const std::string& name,
    const std::vector<sync::schedule::Candidate>& candidates);

[[nodiscard]] std::vector<std::string> names_of(const std::vector<sync::schedule::PodRef>& pods);
// Reads {"node", "victims": [pod], "numPDBViolations"}.
[[nodiscard]] sync::schedule::Candidate read_candidate(Input& input, const json::object& object);

}  // namespace holdfast::cases
