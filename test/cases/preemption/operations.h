// The operations that cases of scheduling name, by group. Each compares what came out with what is
// expected; a malformed case throws.

#pragma once

#include <string>

#include "test/cases/preemption/check.h"
#include "test/cases/preemption/input.h"

namespace holdfast::cases {

// Each group runs the operation if it has it: false when it does not know it.
struct Operation {
  const std::string& name;
  const json::object& given;
  Behaviour behaviour;
  Check& check;
};

bool filter_operation(const Operation& operation);       // one node, messages, scores
bool victim_operation(const Operation& operation);       // dry runs, budgets, importance, choice
bool preemption_operation(const Operation& operation);   // eligibility, extenders, all steps
bool preparation_operation(const Operation& operation);  // acting on the choice, the gate
bool queue_operation(const Operation& operation);        // queues, failure handling
bool kubelet_operation(const Operation& operation);      // what a node decides alone

// One case of the format preemption-cases/v1: its first difference, or nothing.
[[nodiscard]] Difference run_preemption_case(const json::object& one);
// Whether it is meant for us: it names the profile that we implement, or pins one of our
// corrections.
[[nodiscard]] bool is_for_us(const json::object& one);

}  // namespace holdfast::cases
