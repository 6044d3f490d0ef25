// Operations after the choice of a node: marking and deleting victims, clearing nominations, and
// the PreEnqueue gate of preempting pods.

#include "sync/wire/json.h"
#include "test/cases/preemption/operations.h"
#include "test/cases/preemption/preparation_driver.h"

namespace holdfast::cases {

namespace schedule = sync::schedule;

namespace {

Names names(const std::set<std::string>& uids) { return {uids.begin(), uids.end()}; }

void prepare_candidate(const Operation& op) {
  Input input(op.given);
  const Names waiting = names_in(op.given, "waitingPods");
  const bool corrected = op.behaviour == Behaviour::corrected;
  const std::string mode = needs_text(op.given, "mode");
  if (mode != "sync" && mode != "async") {
    throw Malformed(op.given, "mode", "unknown mode " + mode);
  }
  schedule::Preparation preparation(
      input.pod_at("preemptor"), read_candidate(input, needs_object(op.given, "candidate")), {},
      {waiting.begin(), waiting.end()}, {mode == "async", corrected, corrected});
  PreparationDriver driver(object_in(op.given, "api"));
  driver.run(preparation);
  if (!preparation.finished()) op.check.fail("not finished");
  op.check.status("status", preparation.fit_status());
  op.check.set("patchedPods", driver.patched);
  op.check.one_set_of("deletedOneOf", driver.deleted);
  op.check.set("rejectedWaitingPods", driver.rejected);
  op.check.set("eventsFor", driver.events);
  op.check.set("preemptingAtStart", names(driver.shut));
  op.check.set("preemptingAtEnd", names(driver.shut_last));
  op.check.set("activated", driver.activated);
}

void pre_enqueue(const Operation& op) {
  Input input(op.given);
  const Names preempting = names_in(op.given, "preempting");
  const schedule::FitStatus fit_status =
      schedule::preemption_gate(*input.pod_at("pod"), flag(op.given, "asyncPreemption"),
                                {preempting.begin(), preempting.end()});
  op.check.status("status", fit_status);
}

// The candidate has no victims; only the actions that clear the nominations of less important pods
// are compared.
void clear_nomination(const Operation& op) {
  Input input(op.given);
  sync::Pod preemptor;
  preemptor.metadata.uid = "preemptor";
  schedule::Preparation preparation(
      schedule::view_of(std::move(preemptor), input.cluster.symbols()), {"node1", {}, 0},
      input.distinct_pods(array_of(needs(op.given, "pods"))), {}, {false, true, true});
  json::array patches;
  for (const auto& step : preparation.start(case_now)) {
    const auto* clear = std::get_if<schedule::ClearNomination>(&step.action);
    if (clear == nullptr) continue;
    patches.push_back(
        json::object{{"namespace", clear->pod.namespace_name},
                     {"name", clear->pod.name},
                     {"subresource", "status"},
                     {"contentType", "application/strategic-merge-patch+json"},
                     {"body", sync::wire::parse_json(schedule::patch_body(*clear)).value()}});
  }
  op.check.equal("patches", patches);
}

}  // namespace

bool preparation_operation(const Operation& op) {
  if (op.name == "prepareCandidate") {
    prepare_candidate(op);
  } else if (op.name == "preEnqueue") {
    pre_enqueue(op);
  } else if (op.name == "clearNomination") {
    clear_nomination(op);
  } else {
    return false;
  }
  return true;
}

}  // namespace holdfast::cases
