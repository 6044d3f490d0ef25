#include "agent/node/kubelet/container_choice.h"

#include <algorithm>
#include <vector>

namespace holdfast::agent::node {
namespace {

using sync::runtime::Attempt;
using sync::runtime::AttemptState;
using sync::runtime::ContainerExit;

tl::unexpected<KubeletRefusal> refuse_with(int status, std::string message) {
  return tl::unexpected(KubeletRefusal{status, std::move(message)});
}

std::string in_quotes(std::string_view name) { return "\"" + std::string(name) + "\""; }

bool has_container(const sync::Pod& pod, const std::string& name) {
  const auto is_it = [&name](const sync::Container& container) { return container.name == name; };
  return std::any_of(pod.spec.containers.begin(), pod.spec.containers.end(), is_it) ||
         std::any_of(pod.spec.init_containers.begin(), pod.spec.init_containers.end(), is_it);
}

bool has_begun(const Attempt& attempt) {
  if (attempt.state == AttemptState::created) return false;
  if (attempt.state == AttemptState::running) return true;
  return attempt.exit.kind != ContainerExit::Kind::never_began &&
         attempt.exit.kind != ContainerExit::Kind::failed;
}

std::vector<Attempt> begun(const sync::runtime::ObservedPod* observed, const std::string& name) {
  std::vector<Attempt> found;
  if (observed == nullptr) return found;
  const auto attempts = observed->find(name);
  if (attempts == observed->end()) return found;
  std::copy_if(attempts->second.begin(), attempts->second.end(), std::back_inserter(found),
               has_begun);
  return found;
}

// The container waits to be started again, so its last run is the previous one.
bool will_restart(const sync::Pod& pod, const Attempt& last) {
  if (last.state == AttemptState::running) return false;
  const std::string& policy = pod.spec.restart_policy;
  const bool succeeded = last.exit.kind == ContainerExit::Kind::code && last.exit.number == 0;
  return policy.empty() || policy == "Always" || (policy == "OnFailure" && !succeeded);
}

}  // namespace

KubeletAnswer<std::int32_t> choose_log(const sync::Pod& pod,
                                       const sync::runtime::ObservedPod* observed,
                                       const std::string& container, bool previous) {
  const std::string& name = pod.metadata.name;
  if (!has_container(pod, container)) {
    return refuse_with(
        404, "container " + in_quotes(container) + " not found in pod " + in_quotes(name));
  }
  const std::vector<Attempt> runs = begun(observed, container);
  if (previous) {
    if (!runs.empty() && will_restart(pod, runs.back())) return runs.back().number;
    if (runs.size() >= 2) return runs[runs.size() - 2].number;
    return refuse_with(400, "previous terminated container " + in_quotes(container) + " in pod " +
                                in_quotes(name) + " not found");
  }
  if (!runs.empty()) return runs.back().number;
  return refuse_with(400, "container " + in_quotes(container) + " in pod " + in_quotes(name) +
                              " is waiting to start: ContainerCreating");
}

KubeletAnswer<std::int32_t> choose_running(const sync::Pod& pod,
                                           const sync::runtime::ObservedPod* observed,
                                           const std::string& container) {
  const std::vector<Attempt> runs = begun(observed, container);
  if (has_container(pod, container) && !runs.empty() &&
      runs.back().state == AttemptState::running) {
    return runs.back().number;
  }
  return refuse_with(has_container(pod, container) ? 500 : 404,
                     "container not found (" + in_quotes(container) + ")");
}

}  // namespace holdfast::agent::node
