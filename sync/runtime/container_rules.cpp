#include "sync/runtime/container_rules.h"

#include <algorithm>

namespace holdfast::sync::runtime {
namespace {

bool counts(const Attempt& attempt) {
  return attempt.state != AttemptState::ended ||
         attempt.exit.kind != ContainerExit::Kind::never_began;
}

bool is_success(const ContainerExit& exit) {
  return exit.kind == ContainerExit::Kind::code && exit.number == 0;
}

// Whether a container is started again after ending like this.
bool starts_again(const Pod& pod, ContainerRole role, const ContainerExit& exit) {
  if (role == ContainerRole::sidecar || exit.kind == ContainerExit::Kind::never_began) return true;
  if (pod.spec.restart_policy == "Never") return false;
  if (is_success(exit))
    return role == ContainerRole::main && pod.spec.restart_policy != "OnFailure";
  return true;
}

void set_next_step(ContainerView& view, const Pod& pod, const CrashBackoffConfig& backoff) {
  if (view.attempts.empty()) return;
  const Attempt& last = view.attempts.back();
  if (last.state != AttemptState::ended) {
    view.next = Next::nothing;
  } else if (!starts_again(pod, view.role, last.exit)) {
    view.next = Next::done;
  } else {
    const CrashBackoff wait = backoff_after(view.attempts, backoff);
    view.start_at = wait.start_at;
    view.delay = wait.delay;
    view.next_delay = wait.next_delay;
  }
}

// Whether the containers after this one may start.
bool lets_pass(const ContainerView& view) {
  return view.role == ContainerRole::sidecar ? view.is_running() : view.has_succeeded();
}

// Sets `is_turn`: an init container may start when all before it are done, the main ones when all
// init containers are. Once a main container was started, the init containers count as done, even
// if their attempts are no longer recorded.
void take_turns(std::vector<ContainerView>& views) {
  const bool under_way = std::any_of(views.begin(), views.end(), [](const ContainerView& view) {
    return view.role == ContainerRole::main && !view.attempts.empty();
  });
  bool passed = true;
  for (ContainerView& view : views) {
    if (view.role == ContainerRole::main || view.role == ContainerRole::sidecar) {
      view.is_turn = under_way || passed;
    } else {
      view.is_turn = !under_way && passed;
    }
    if (view.role != ContainerRole::main) passed = passed && lets_pass(view);
  }
}

ContainerView make_view(const Container& container, ContainerRole role, const Pod& pod,
                        const ObservedPod& observed, const CrashBackoffConfig& backoff) {
  ContainerView view;
  view.container = &container;
  view.role = role;
  const auto found = observed.find(container.name);
  if (found != observed.end()) view.attempts = found->second;
  set_next_step(view, pod, backoff);
  return view;
}

}  // namespace

const Attempt* ContainerView::current() const {
  if (attempts.empty() || !counts(attempts.back())) return nullptr;
  return &attempts.back();
}

const Attempt* ContainerView::previous() const {
  for (auto attempt = attempts.rbegin(); attempt != attempts.rend(); ++attempt) {
    if (&*attempt != current() && counts(*attempt)) return &*attempt;
  }
  return nullptr;
}

bool ContainerView::is_running() const {
  return current() != nullptr && current()->state == AttemptState::running;
}

bool ContainerView::has_succeeded() const {
  return next == Next::done && is_success(attempts.back().exit);
}

bool ContainerView::has_failed() const {
  return next == Next::done && !is_success(attempts.back().exit);
}

std::vector<ContainerView> view_containers(const Pod& pod, const ObservedPod& observed,
                                           const CrashBackoffConfig& backoff) {
  std::vector<ContainerView> views;
  for (const Container& container : pod.spec.init_containers) {
    const ContainerRole role =
        container.restart_policy == "Always" ? ContainerRole::sidecar : ContainerRole::init;
    views.push_back(make_view(container, role, pod, observed, backoff));
  }
  for (const Container& container : pod.spec.containers) {
    views.push_back(make_view(container, ContainerRole::main, pod, observed, backoff));
  }
  take_turns(views);
  return views;
}

bool is_complete(const std::vector<ContainerView>& views) {
  bool all_done = true;
  for (const ContainerView& view : views) {
    if (view.role == ContainerRole::init && view.is_turn && view.has_failed()) return true;
    if (view.role == ContainerRole::main && view.next != Next::done) all_done = false;
  }
  return all_done;
}

}  // namespace holdfast::sync::runtime
