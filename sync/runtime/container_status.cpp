#include "sync/runtime/container_status.h"

#include <optional>

#include "platform/check.h"

namespace holdfast::sync::runtime {
namespace {

// Added to the number of the signal, as shells and container runtimes do.
constexpr std::int32_t killed_by = 128;
constexpr std::int32_t start_error = 128;
// The kubelet's value for a container that it has lost.
constexpr std::int32_t unknown_exit = 137;

// Times in the API have whole seconds.
std::optional<WallTime> whole_seconds(std::optional<WallTime> time) {
  if (!time) return std::nullopt;
  return WallTime(std::chrono::floor<std::chrono::seconds>(*time));
}

std::string container_id(const Pod& pod, const ContainerView& view, const Attempt& attempt) {
  return "process://" + pod.metadata.uid + "/" + view.container->name + "/" +
         std::to_string(attempt.number);
}

ContainerTerminated terminated(const Pod& pod, const ContainerView& view, const Attempt& attempt) {
  ContainerTerminated state;
  state.container_id = container_id(pod, view, attempt);
  state.started_at = whole_seconds(attempt.started_wall);
  state.finished_at = whole_seconds(attempt.ended_wall);
  state.message = attempt.exit.message;
  switch (attempt.exit.kind) {
    case ContainerExit::Kind::code:
      state.exit_code = attempt.exit.number;
      state.reason = attempt.exit.number == 0 ? "Completed" : "Error";
      return state;
    case ContainerExit::Kind::signal:
      state.exit_code = killed_by + attempt.exit.number;
      state.reason = "Error";
      return state;
    case ContainerExit::Kind::unknown:
      state.exit_code = unknown_exit;
      state.reason = "ContainerStatusUnknown";
      return state;
    case ContainerExit::Kind::failed:
    case ContainerExit::Kind::never_began:
      state.exit_code = start_error;
      state.reason = "StartError";
      return state;
  }
  UNREACHABLE();
}

ContainerWaiting back_off(const Pod& pod, const ContainerView& view) {
  ContainerWaiting waiting;
  waiting.reason = "CrashLoopBackOff";
  waiting.message = "back-off " + format_duration(view.delay) +
                    " restarting failed container=" + view.container->name +
                    " pod=" + pod.metadata.name + "_" + pod.metadata.namespace_name + "(" +
                    pod.metadata.uid + ")";
  return waiting;
}

// The last attempt, if it never began and the next one is delayed because several did not.
const Attempt* failed_start(const ContainerView& view) {
  const bool delayed = view.next == Next::start && view.delay > Duration(0);
  const bool began = view.attempts.empty() || view.current() != nullptr;
  return delayed && !began ? &view.attempts.back() : nullptr;
}

// The waiting state, or std::nullopt if the current attempt itself gives the state.
std::optional<ContainerWaiting> waits_for(const Pod& pod, const ContainerView& view, bool going_on,
                                          const std::string& default_reason) {
  const Attempt* current = view.current();
  if (going_on && view.next == Next::start && !view.problem.reason.empty()) return view.problem;
  if (going_on && failed_start(view) != nullptr) return back_off(pod, view);
  if (current == nullptr) return ContainerWaiting{default_reason, {}, {}};
  if (current->state == AttemptState::created) return ContainerWaiting{"ContainerCreating", {}, {}};
  if (current->state == AttemptState::running) return std::nullopt;
  if (going_on && view.next == Next::start && view.delay > Duration(0)) return back_off(pod, view);
  return std::nullopt;
}

void fill_states(ContainerStatus& status, const Pod& pod, const ContainerView& view, bool going_on,
                 const std::string& default_reason) {
  const Attempt* current = view.current();
  const Attempt* before = view.previous();
  if (auto waiting = waits_for(pod, view, going_on, default_reason)) {
    status.state.waiting = std::move(*waiting);
    if (current != nullptr && current->state == AttemptState::ended) before = current;
    if (const Attempt* failed = failed_start(view)) before = failed;
  } else if (current->state == AttemptState::running) {
    status.state.running = ContainerRunning{whole_seconds(current->started_wall), {}};
  } else {
    status.state.terminated = terminated(pod, view, *current);
  }
  if (before != nullptr) status.last_state.terminated = terminated(pod, view, *before);
}

}  // namespace

ContainerStatus make_container_status(const Pod& pod, const ContainerView& view, bool going_on,
                                      std::string default_reason) {
  ContainerStatus status;
  status.name = view.container->name;
  status.image = view.container->image;
  fill_states(status, pod, view, going_on, default_reason);
  if (!view.attempts.empty()) status.restart_count = view.attempts.back().restarts;
  if (const Attempt* current = view.current()) {
    status.container_id = container_id(pod, view, *current);
  }
  const bool running = view.is_running();
  status.started = running;
  status.ready = view.role == ContainerRole::init ? view.has_succeeded() : running;
  return status;
}

}  // namespace holdfast::sync::runtime
