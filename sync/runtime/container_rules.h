// What should happen to each container of a pod next, as far as the pod itself decides it.

#pragma once

#include <cstdint>
#include <vector>

#include "sync/model/pod.h"
#include "sync/runtime/attempt.h"
#include "sync/runtime/crash_backoff.h"

namespace holdfast::sync {

// Init containers run one after the other, to their end, before the main ones. A sidecar is an init
// container with restartPolicy Always: the next one starts once it runs, and it ends with the pod.
enum class Duty : std::uint8_t { init, sidecar, main };

// The last attempt, and what its end means under the restart policy.
enum class Next : std::uint8_t {
  nothing,  // it runs, or its start is under way
  start,    // at `start_at`, which may have passed
  done,     // it has ended for good
};

struct ContainerView {
  const Container* container = nullptr;
  Duty duty = Duty::main;
  Attempts attempts = {};
  Next next = Next::start;
  MonoTime start_at = MonoTime::min();
  Duration delay{};               // the back-off that makes it `start_at`
  Duration next_delay{};          // for the attempt to start
  bool is_turn = false;           // those before it have done their duty
  ContainerWaiting problem = {};  // why it cannot be started: reason and message, or empty

  // The attempt that counts, or nullptr.
  [[nodiscard]] const Attempt* current() const;
  // The last one before current() that ended, or nullptr.
  [[nodiscard]] const Attempt* previous() const;
  [[nodiscard]] bool is_running() const;
  // Ended for good and with success.
  [[nodiscard]] bool has_succeeded() const;
  [[nodiscard]] bool has_failed() const;
};

// One view for each container, init containers first. Views borrow from `pod`.
[[nodiscard]] std::vector<ContainerView> view_containers(const Pod& pod,
                                                         const ObservedPod& observed,
                                                         const CrashBackoffConfig& backoff);

// Whether the pod has nothing left to run: every main container is done, or an init container has
// failed for good. Sidecars may still run.
[[nodiscard]] bool is_complete(const std::vector<ContainerView>& views);

}  // namespace holdfast::sync
