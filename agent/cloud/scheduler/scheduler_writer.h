// Writes the scheduler's decisions to an API server: bindings of pods and volumes, pod status
// patches, deletions.
// Every request has the pod's uid as a precondition. If a binding conflicts, or its answer is lost,
// the pod is read to find out whether it is bound. Threading: the loop's thread only.

#pragma once

#include <string>

#include "agent/client/api_client.h"
#include "platform/random.h"
#include "sync/schedule/actions.h"
#include "sync/schedule/volumes/match.h"

namespace holdfast::agent {

// Build the requests; nothing is sent.
[[nodiscard]] ApiRequest bind_pod(const sync::schedule::PodKey& pod, const std::string& node);
[[nodiscard]] ApiRequest patch_status(const sync::schedule::PatchPodStatus& patch);
[[nodiscard]] ApiRequest clear_nomination(const sync::schedule::ClearNomination& clear);
[[nodiscard]] ApiRequest delete_victim(const sync::schedule::DeletePod& deletion);
// Both have the version of the decision as a precondition.
[[nodiscard]] ApiRequest bind_volume(const sync::schedule::BindVolume& binding);
[[nodiscard]] ApiRequest select_node(const sync::schedule::SelectNode& selection);

class SchedulerWriter {
 public:
  // All references are borrowed and outlive it.
  SchedulerWriter(ApiCaller& client, const Clock& clock, Random& random)
      : client_(client), clock_(clock), random_(random) {}

  // Binds the pod to `node`; at most five tries. Succeeds also if the pod turns out to be bound
  // there already. Errors: not_found (the pod is gone, or its name belongs to another pod),
  // conflict (it is bound to another node or being deleted), and those of ApiCaller::call().
  asio::awaitable<Status> bind(sync::schedule::PodKey pod, std::string node);

  // Sends any other write, up to four times if the server fails. Errors: as ApiCaller::call().
  asio::awaitable<Status> write(ApiRequest request);

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
