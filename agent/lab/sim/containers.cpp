#include "agent/lab/sim/containers.h"

#include <utility>

namespace holdfast::agent::lab::sim {

using sync::runtime::AttemptState;
using sync::runtime::ContainerExit;

namespace {

// As many as the rules of status and backoff need.
constexpr std::size_t attempts_max = 2;
constexpr std::int32_t sigkill = 9;

}  // namespace

Containers::Attempt* Containers::find(const std::string& uid, const std::string& container,
                                      int number) {
  const auto pod = observed_.find(uid);
  if (pod == observed_.end()) return nullptr;
  const auto attempts = pod->second.find(container);
  if (attempts == pod->second.end() || attempts->second.empty()) return nullptr;
  Attempt& last = attempts->second.back();
  return last.number == number ? &last : nullptr;
}

void Containers::start(const sync::runtime::StartContainer& action, const PodProfile& profile) {
  auto& attempts = observed_[action.pod.uid][action.container];
  if (attempts.size() >= attempts_max) attempts.erase(attempts.begin());
  attempts.push_back({.number = action.number,
                      .restarts = action.restarts,
                      .next_delay = action.next_delay,
                      .state = AttemptState::created});
  changed_(action.pod.uid, "starting", action.restarts);
  engine_.after(profile.start, power_, [this, action, profile] { run(action, profile); });
}

void Containers::run(const sync::runtime::StartContainer& action, const PodProfile& profile) {
  const std::string uid = action.pod.uid;
  Attempt* attempt = find(uid, action.container, action.number);
  if (attempt == nullptr || attempt->state != AttemptState::created) return;
  attempt->state = AttemptState::running;
  attempt->started = engine_.now();
  attempt->started_wall = clock_.wall();
  changed_(uid, "ready", attempt->restarts);
  if (profile.run_time <= Duration::zero()) return;
  engine_.after(profile.run_time, power_,
                [this, uid, name = action.container, number = action.number] {
                  end(uid, name, number, {.kind = ContainerExit::Kind::code, .number = 0});
                });
}

void Containers::signal(const sync::runtime::SignalContainer& action, const PodProfile& profile) {
  Attempt* attempt = find(action.uid, action.container, action.number);
  if (attempt == nullptr || attempt->state == AttemptState::ended) return;
  if (action.signal == sync::runtime::StopSignal::kill) {
    return end(action.uid, action.container, action.number,
               {.kind = ContainerExit::Kind::signal, .number = sigkill});
  }
  changed_(action.uid, "stopping", attempt->restarts);
  engine_.after(profile.stop, power_, [this, action] {
    end(action.uid, action.container, action.number,
        {.kind = ContainerExit::Kind::code, .number = 0});
  });
}

void Containers::end(const std::string& uid, const std::string& container, int number,
                     ContainerExit exit) {
  Attempt* attempt = find(uid, container, number);
  if (attempt == nullptr || attempt->state == AttemptState::ended) return;
  attempt->state = AttemptState::ended;
  attempt->ended = engine_.now();
  attempt->ended_wall = clock_.wall();
  attempt->exit = std::move(exit);
  changed_(uid, "stopped", attempt->restarts);
}

void Containers::power_off() {
  power_.end();
  for (auto& [uid, pod] : observed_) {
    for (auto& [name, attempts] : pod) {
      for (Attempt& attempt : attempts) {
        attempt.started.reset();
        attempt.ended.reset();
        if (attempt.state == AttemptState::ended) continue;
        const bool began = attempt.state == AttemptState::running;
        attempt.state = AttemptState::ended;
        attempt.exit.kind = began ? ContainerExit::Kind::unknown : ContainerExit::Kind::never_began;
        changed_(uid, "stopped", attempt.restarts);
      }
    }
  }
}

}  // namespace holdfast::agent::lab::sim
