// Operations on preemption as a whole: eligible pods, potential nodes, extenders, and whole runs.

#include <algorithm>

#include "sync/wire/codec.h"
#include "test/cases/preemption/operations.h"
#include "test/cases/preemption/preparation_driver.h"

namespace holdfast::cases {

namespace schedule = sync::schedule;

namespace {

void eligibility(const Operation& op) {
  Input input(op.given);
  schedule::NodeFitStatuses fit_statuses;
  const json::value* status = find(op.given, "nominatedNodeStatus");
  const std::string why =
      schedule::ineligible(input.cluster, *input.pod_at("preemptor"),
                           status == nullptr ? fit_statuses.absent() : read_status(*status));
  op.check.equal("eligible", why.empty());
  op.check.equal("message", json::value(why));
}

void potential_nodes(const Operation& op) {
  Input input(op.given);
  Names names;
  for (const schedule::NodeView* node :
       schedule::worth_trying(input.cluster, input.fit_statuses())) {
    names.push_back(node->name());
  }
  op.check.list("nodes", sorted(names));
}

void call_extenders(const Operation& op) {
  Input input(op.given);
  std::vector<schedule::Candidate> candidates;
  for (const json::value& each : array_of(needs(op.given, "candidates"))) {
    candidates.push_back(read_candidate(input, object_of(each)));
    for (const schedule::PodRef& victim : candidates.back().victims) {
      if (!victim->node().empty()) input.cluster.set_pod(victim);
    }
  }
  schedule::ExtenderRound round(read_extenders(op.given), *input.pod_at("preemptor")->pod,
                                std::move(candidates));
  while (const auto* next = round.next()) {
    round.answer(input.cluster, ask_extender(op.given, next->url, round.candidates()));
  }
  op.check.status("status", round.fit_status());
  const json::value& wanted = op.check.needs("candidates");
  if (wanted.is_null()) return;
  json::array found;
  for (const schedule::Candidate& each : round.candidates()) {
    found.push_back(
        json::object{{"node", each.node}, {"victims", to_json(names_of(each.victims))}});
  }
  if (!same(wanted, found)) op.check.differs("candidates", wanted, found);
}

schedule::PreemptionOutcome run_preemption(Input& input, const Operation& op,
                                           const schedule::PodRef& pod, std::uint64_t seed) {
  const auto plugins = read_filters(op.given, op.behaviour);
  schedule::Preemption preemption(pod, {{}, read_extenders(op.given)});
  Random random(seed);
  preemption.start({input.cluster, input.nominator, input.budgets, plugins}, input.fit_statuses(),
                   case_now, random);
  while (const auto* next = preemption.ask()) {
    preemption.answer(input.cluster, ask_extender(op.given, next->url, preemption.candidates()),
                      case_now);
  }
  return *preemption.outcome();
}

void post_filter(const Operation& op) {
  Input input(op.given);
  const auto outcome = run_preemption(input, op, input.pod_at("preemptor"), 1);
  op.check.status("status", outcome.fit_status);
  const json::value& wanted = op.check.needs("nominatedNodeOneOf");
  if (wanted.is_null() || !outcome.nomination) {
    const json::value found =
        outcome.nomination ? json::value(*outcome.nomination) : json::value(nullptr);
    if (wanted != found) op.check.differs("nominatedNodeOneOf", wanted, found);
  } else {
    op.check.one_of("nominatedNodeOneOf", json::value(*outcome.nomination));
  }
  const json::value* victims = op.check.wants("victims");
  if (victims == nullptr) return;
  if (!outcome.chosen) return op.check.fail("victims: nothing was chosen");
  const Names expected = names_in(object_of(*victims), outcome.chosen->node);
  const Names found = names_of(outcome.chosen->victims);
  if (sorted(expected) != sorted(found)) {
    op.check.differs("victims", to_json(expected), to_json(found));
  }
}

json::value event_json(const schedule::RecordEvent& event) {
  return json::object{{"type", event.type},
                      {"reason", event.reason},
                      {"action", event.action},
                      {"note", event.note}};
}

void preempt(const Operation& op) {
  Input input(op.given);
  const schedule::PodRef pod = input.pod_at("preemptor");
  const auto outcome = run_preemption(input, op, pod, 7);
  const json::object api;
  PreparationDriver driver(api);
  if (outcome.chosen) {
    schedule::PreparationOptions options;
    options.async = false;
    schedule::Preparation preparation(pod, *outcome.chosen, {}, {}, options);
    driver.run(preparation);
    if (!preparation.fit_status().ok()) op.check.fail(preparation.fit_status().message());
  }
  const std::string node = outcome.nomination.value_or("");
  op.check.equal("nominatedNode", node.empty() ? json::value(nullptr) : json::value(node));
  op.check.set("deletedPods", driver.deleted);
  op.check.set("patchedPods", driver.patched);
  const json::value* condition = op.check.wants("victimCondition");
  if (!driver.patches.empty()) condition = &op.check.needs("victimCondition");
  for (const schedule::PatchPodStatus& patch : driver.patches) {
    const json::value found = sync::wire::encode_part(*patch.condition);
    if (!matches(*condition, found)) op.check.differs("victimCondition", *condition, found);
  }
  const json::value& event = op.check.needs("event");
  if (event.is_null() != driver.recorded.empty()) op.check.fail("event: missing or not wanted");
  for (const schedule::RecordEvent& each : driver.recorded) {
    if (!same(event, event_json(each))) op.check.differs("event", event, event_json(each));
  }
}

}  // namespace

bool preemption_operation(const Operation& op) {
  if (op.name == "eligibility") {
    eligibility(op);
  } else if (op.name == "potentialNodes") {
    potential_nodes(op);
  } else if (op.name == "callExtenders") {
    call_extenders(op);
  } else if (op.name == "postFilter") {
    post_filter(op);
  } else if (op.name == "preempt") {
    preempt(op);
  } else {
    return false;
  }
  return true;
}

}  // namespace holdfast::cases
