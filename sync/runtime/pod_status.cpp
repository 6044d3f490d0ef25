#include "sync/runtime/pod_status.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

#include "platform/text.h"
#include "sync/runtime/container_status.h"

namespace holdfast::sync::runtime {
namespace {

constexpr std::array<std::string_view, 4> own_conditions = {"Initialized", "Ready",
                                                            "ContainersReady", "PodScheduled"};

// Numbers of containers by state, as the kubelet counts them to compute the phase.
struct Count {
  std::size_t pending_init = 0;
  std::size_t failed_init = 0;
  std::size_t running = 0;
  std::size_t waiting = 0;
  std::size_t stopped = 0;
  std::size_t succeeded = 0;
};

void count_init(Count& count, const ContainerStatus& status, ContainerRole role) {
  const auto& ended =
      status.state.terminated ? status.state.terminated : status.last_state.terminated;
  if (role == ContainerRole::sidecar) {
    if (status.state.running) ++count.running;
    if (!status.state.running && !ended) ++count.pending_init;
  } else if (status.state.running || !ended) {
    ++count.pending_init;
  } else if (ended->exit_code != 0) {
    ++count.failed_init;
  }
}

void count_main(Count& count, const ContainerStatus& status) {
  if (status.state.running) {
    ++count.running;
  } else if (status.state.terminated) {
    ++count.stopped;
    if (status.state.terminated->exit_code == 0) ++count.succeeded;
  } else if (status.last_state.terminated) {
    ++count.stopped;
  } else {
    ++count.waiting;
  }
}

std::string phase_of(const Count& count, const std::string& policy, bool stopped) {
  if (count.failed_init > 0 && policy == "Never") return "Failed";
  if (count.pending_init > 0 || count.waiting > 0) return "Pending";
  if (count.running > 0) return "Running";
  if (count.stopped == 0) return "Pending";
  if (count.stopped == count.succeeded && (stopped || policy != "Always")) return "Succeeded";
  if (stopped || policy == "Never") return "Failed";
  return "Running";
}

// Makes a condition without its time.
PodCondition condition(std::string type, bool holds, std::string reason, std::string message) {
  PodCondition made;
  made.type = std::move(type);
  made.status = holds ? "True" : "False";
  made.reason = std::move(reason);
  made.message = std::move(message);
  return made;
}

// Formats a list of names as Go does.
std::string in_brackets(const std::vector<std::string>& names) {
  return "[" + join(names, " ") + "]";
}

PodCondition initialized(const std::vector<ContainerView>& views, const std::string& phase) {
  std::vector<std::string> incomplete;
  for (const ContainerView& view : views) {
    const bool passed =
        view.role == ContainerRole::sidecar ? view.is_running() : view.has_succeeded();
    if (view.role != ContainerRole::main && !passed) incomplete.push_back(view.container->name);
  }
  if (phase == "Succeeded") return condition("Initialized", true, "PodCompleted", "");
  const bool under_way = std::any_of(views.begin(), views.end(), [](const ContainerView& view) {
    return view.role == ContainerRole::main && !view.attempts.empty();
  });
  if (incomplete.empty() || under_way) return condition("Initialized", true, "", "");
  return condition("Initialized", false, "ContainersNotInitialized",
                   "containers with incomplete status: " + in_brackets(incomplete));
}

PodCondition containers_ready(const std::vector<ContainerView>& views, const std::string& phase) {
  if (phase == "Succeeded") return condition("ContainersReady", false, "PodCompleted", "");
  if (phase == "Failed") return condition("ContainersReady", false, "PodFailed", "");
  std::vector<std::string> unready;
  for (const ContainerView& view : views) {
    if (view.role != ContainerRole::init && !view.is_running())
      unready.push_back(view.container->name);
  }
  if (unready.empty()) return condition("ContainersReady", true, "", "");
  return condition("ContainersReady", false, "ContainersNotReady",
                   "containers with unready status: " + in_brackets(unready));
}

// Adds our condition or replaces the one of its type. Its time is when its status last changed: as
// reported before, otherwise as the API server has it.
void put_condition(PodStatus& status, PodCondition ours, const PodStatus* reported, WallTime now) {
  const PodCondition* before = reported != nullptr ? find_condition(*reported, ours.type) : nullptr;
  if (before == nullptr) before = find_condition(status, ours.type);
  const bool same = before != nullptr && before->status == ours.status;
  ours.last_transition_time = same ? before->last_transition_time : now;
  for (PodCondition& known : status.conditions) {
    if (known.type != ours.type) continue;
    ours.unknown_fields = known.unknown_fields;
    known = std::move(ours);
    return;
  }
  status.conditions.push_back(std::move(ours));
}

void put_conditions(PodStatus& status, const std::vector<ContainerView>& views, WallTime now,
                    const PodStatus* reported) {
  PodCondition ready = containers_ready(views, status.phase);
  ready.type = "Ready";
  put_condition(status, initialized(views, status.phase), reported, now);
  put_condition(status, std::move(ready), reported, now);
  put_condition(status, containers_ready(views, status.phase), reported, now);
  put_condition(status, condition("PodScheduled", true, "", ""), reported, now);
}

std::vector<PodCondition> only_own(const std::vector<PodCondition>& conditions) {
  std::vector<PodCondition> own;
  std::copy_if(conditions.begin(), conditions.end(), std::back_inserter(own),
               [](const PodCondition& each) { return is_own_condition(each.type); });
  return own;
}

}  // namespace

PodStatus make_pod_status(const Pod& pod, const std::vector<ContainerView>& views,
                          const StatusFacts& facts, const PodStatus* reported) {
  PodStatus status = pod.status;
  status.init_container_statuses.clear();
  status.container_statuses.clear();
  const bool has_init = !pod.spec.init_containers.empty();
  const std::string reason = has_init ? "PodInitializing" : "ContainerCreating";
  Count count;
  for (const ContainerView& view : views) {
    ContainerStatus made = make_container_status(pod, view, !facts.stopped, reason);
    if (view.role == ContainerRole::main) {
      count_main(count, made);
      status.container_statuses.push_back(std::move(made));
    } else {
      count_init(count, made, view.role);
      status.init_container_statuses.push_back(std::move(made));
    }
  }
  status.phase = phase_of(count, pod.spec.restart_policy, facts.stopped);
  // A pod that was stopped before it finished has not succeeded.
  const bool finished = status.phase == "Succeeded" || status.phase == "Failed";
  if (facts.stopped && (!finished || !facts.reason.empty())) status.phase = "Failed";
  status.reason = facts.reason;
  status.message = facts.message;
  status.host_ip = facts.node.host_ip;
  status.pod_ip = facts.node.pod_ip;
  status.pod_ips = {PodIp{facts.node.pod_ip, {}}};
  const auto seconds = [](WallTime time) {
    return WallTime(std::chrono::floor<std::chrono::seconds>(time));
  };
  if (!status.start_time) status.start_time = seconds(facts.accepted_wall);
  put_conditions(status, views, seconds(facts.now_wall), reported);
  return status;
}

bool is_own_condition(std::string_view type) {
  return std::find(own_conditions.begin(), own_conditions.end(), type) != own_conditions.end();
}

bool says_the_same(const PodStatus& left, const PodStatus& right) {
  if (left == right) return true;
  const std::vector<PodCondition> ours = only_own(left.conditions);
  const std::vector<PodCondition> theirs = only_own(right.conditions);
  if (!std::is_permutation(ours.begin(), ours.end(), theirs.begin(), theirs.end())) return false;
  PodStatus aligned = left;
  aligned.conditions = right.conditions;
  return aligned == right;
}

}  // namespace holdfast::sync::runtime
