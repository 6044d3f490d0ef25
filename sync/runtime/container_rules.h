// Decides what should happen to each container of a pod next, as far as the pod's own rules decide
// it. Pure.

#pragma once

#include <cstdint>
#include <vector>

#include "sync/model/pod.h"
#include "sync/runtime/attempt.h"
#include "sync/runtime/crash_backoff.h"

namespace holdfast::sync::runtime {

// The role of a container. Init containers run to completion one after the other, before the main
// containers. A sidecar is an init container with restartPolicy Always: the next container starts
// once it runs, and it stops with the pod.
enum class ContainerRole : std::uint8_t { init, sidecar, main };

// What follows the last attempt under the restart policy.
enum class Next : std::uint8_t {
  nothing,  // it is running or starting
  start,    // start at `start_at`, which may have passed
  done,     // it has ended and is not started again
};

// One container with its attempts and its next step.
struct ContainerView {
  const Container* container = nullptr;
  ContainerRole role = ContainerRole::main;
  Attempts attempts = {};
  Next next = Next::start;
  MonoTime start_at = MonoTime::min();  // not before this time
  Duration delay{};                     // the backoff that leads to `start_at`
  Duration next_delay{};                // backoff after the attempt that starts next
  bool is_turn = false;                 // the containers before it allow it to start
  ContainerWaiting problem = {};        // why it cannot be started; empty reason: no problem

  // The last attempt, unless that never began; nullptr if there is none.
  [[nodiscard]] const Attempt* current() const;
  // The last ended attempt before current() that did begin; nullptr if there is none.
  [[nodiscard]] const Attempt* previous() const;
  [[nodiscard]] bool is_running() const;
  // Ended with success, and is not started again.
  [[nodiscard]] bool has_succeeded() const;
  // Ended without success, and is not started again.
  [[nodiscard]] bool has_failed() const;
};

// One view for each container, init containers first. The views borrow from `pod`.
[[nodiscard]] std::vector<ContainerView> view_containers(const Pod& pod,
                                                         const ObservedPod& observed,
                                                         const CrashBackoffConfig& backoff);

// Whether nothing of the pod remains to be run: every main container is done, or an init container
// failed and is not started again. Sidecars may still run.
[[nodiscard]] bool is_complete(const std::vector<ContainerView>& views);

}  // namespace holdfast::sync::runtime
