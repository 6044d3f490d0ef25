// Performs on an API server what scheduling wants: bindings, patches of pods' status, deletions.
//
// Every request names the uid that it was decided for. A binding that conflicts, or of which nobody
// knows whether it arrived, is decided on the pod as it is then. Threading: the loop's thread only.

#pragma once

#include <string>

#include "agent/client/api_client.h"
#include "platform/random.h"
#include "sync/schedule/actions.h"
#include "sync/schedule/preemption/preparation.h"

namespace holdfast::agent {

// The requests; nothing is sent here.
[[nodiscard]] ApiRequest bind_pod(const sync::schedule::PodKey& pod, const std::string& node);
[[nodiscard]] ApiRequest patch_status(const sync::schedule::PatchPodStatus& patch);
[[nodiscard]] ApiRequest clear_nomination(const sync::schedule::ClearNomination& clear);
[[nodiscard]] ApiRequest delete_victim(const sync::schedule::DeletePod& deletion);

class SchedulerWriter {
 public:
  // All is borrowed and outlives it.
  SchedulerWriter(ApiCaller& client, const Clock& clock, Random& random)
      : client_(client), clock_(clock), random_(random) {}

  // Success: the pod has that node now. Errors: not_found (the pod is gone, or another one has its
  // name), conflict (it has another node, or is being deleted), and what else ApiCaller::call()
  // has.
  asio::awaitable<Status> bind(sync::schedule::PodKey pod, std::string node);

  // PatchPodStatus, ClearNomination or DeletePod. A server that is not well is asked four times.
  asio::awaitable<sync::schedule::Settled> perform(sync::schedule::Action action);

 private:
  asio::awaitable<Status> bind_once(sync::schedule::PodKey pod, std::string node);
  asio::awaitable<Result<bool>> bound_already(sync::schedule::PodKey pod, std::string node,
                                              Error why);
  asio::awaitable<Status> send(ApiRequest request);

  ApiCaller& client_;
  const Clock& clock_;
  Random& random_;
};

}  // namespace holdfast::agent
