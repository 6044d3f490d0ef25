// The operations that scheduling cases name, in groups. Each runs the rules on the case's input and
// compares the result with the expected one. They throw Malformed.

#pragma once

#include <string>

#include "test/cases/preemption/check.h"
#include "test/cases/preemption/input.h"

namespace holdfast::cases {

// One operation of a case. The functions below return false if their group does not have it.
struct Operation {
  const std::string& name;
  const json::object& given;
  Behaviour behaviour;
  Check& check;
};

bool filter_operation(const Operation& operation);       // filters of one node, messages, scores
bool victim_operation(const Operation& operation);       // dry runs, budgets, choice of victims
bool preemption_operation(const Operation& operation);   // eligibility, extenders, whole runs
bool preparation_operation(const Operation& operation);  // after the choice; the PreEnqueue gate
bool queue_operation(const Operation& operation);        // queues, failure handling
bool kubelet_operation(const Operation& operation);      // the kubelet's own decisions

// Runs one case of the format preemption-cases/v1. Returns its first difference, or nullopt. Throws
// Malformed.
[[nodiscard]] Difference run_preemption_case(const json::object& one);
// Whether the case applies to our rules: it names the release that we implement, or it tests one of
// our corrections.
[[nodiscard]] bool is_for_us(const json::object& one);

}  // namespace holdfast::cases
