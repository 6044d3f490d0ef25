// Performs the actions of a Preparation on a simulated API server, whose errors the case defines,
// and records them.

#pragma once

#include <set>
#include <string>
#include <vector>

#include "sync/schedule/preemption/preparation.h"
#include "test/cases/preemption/check.h"
#include "test/cases/preemption/input.h"

namespace holdfast::cases {

class PreparationDriver {
 public:
  // `api` has patchErrors and deleteErrors (error texts by pod name) and notFound (pod names). It
  // must outlive this object.
  explicit PreparationDriver(const json::object& api) : api_(api) {}

  void run(sync::schedule::Preparation& preparation);

  Names patched;
  Names deleted;
  Names rejected;
  Names events;
  std::vector<sync::schedule::RecordEvent> recorded;
  std::vector<sync::schedule::PatchPodStatus> patches;
  std::set<std::string> shut;       // uids of the pods whose gate was ever shut
  std::set<std::string> shut_last;  // uids of the pods whose gate is shut now
  Names activated;

 private:
  [[nodiscard]] sync::schedule::Settled perform(const sync::schedule::Action& action);
  [[nodiscard]] sync::schedule::Settled request(std::string_view errors,
                                                const sync::schedule::PodKey& pod, Names& done);

  const json::object& api_;
};

}  // namespace holdfast::cases
