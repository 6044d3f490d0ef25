#include "test/cases/preemption/preparation_driver.h"

#include <algorithm>
#include <deque>

namespace holdfast::cases {

namespace schedule = sync::schedule;

schedule::Settled PreparationDriver::request(std::string_view errors, const schedule::PodKey& pod,
                                             Names& done) {
  using Kind = schedule::Settled::Kind;
  const Names missing = names_in(api_, "notFound");
  if (std::find(missing.begin(), missing.end(), pod.name) != missing.end()) {
    return {Kind::gone, "pods \"" + pod.name + "\" not found"};
  }
  const std::string error = text(object_in(api_, errors), pod.name);
  if (!error.empty()) return {Kind::failed, error};
  done.push_back(pod.name);
  return {};
}

schedule::Settled PreparationDriver::perform(const schedule::Action& action) {
  if (const auto* patch = std::get_if<schedule::PatchPodStatus>(&action)) {
    patches.push_back(*patch);
    return request("patchErrors", patch->pod, patched);
  }
  if (const auto* remove = std::get_if<schedule::DeletePod>(&action)) {
    return request("deleteErrors", remove->pod, deleted);
  }
  if (const auto* reject = std::get_if<schedule::RejectWaiting>(&action)) {
    rejected.push_back(reject->pod.name);
  } else if (const auto* event = std::get_if<schedule::RecordEvent>(&action)) {
    events.push_back(event->regarding.name);
    recorded.push_back(*event);
  } else if (const auto* gate = std::get_if<schedule::SetGate>(&action)) {
    if (gate->shut) {
      shut.insert(gate->uid);
      shut_last.insert(gate->uid);
    } else {
      shut_last.erase(gate->uid);
    }
  } else if (const auto* activate = std::get_if<schedule::ActivatePod>(&action)) {
    activated.push_back(activate->uid);
  }
  return {};
}

void PreparationDriver::run(schedule::Preparation& preparation) {
  const auto first = preparation.start(case_now);
  std::deque<schedule::Preparation::Step> steps(first.begin(), first.end());
  while (!steps.empty()) {
    const schedule::Preparation::Step step = std::move(steps.front());
    steps.pop_front();
    const schedule::Settled settled = perform(step.action);
    if (step.id == 0) continue;
    const auto more = preparation.settle(step.id, settled, case_now);
    steps.insert(steps.end(), more.begin(), more.end());
  }
}

}  // namespace holdfast::cases
