#include "agent/cloud/cloud.h"

#include <iterator>
#include <utility>

#include "platform/check.h"

namespace holdfast::agent {

namespace lifecycle = sync::lifecycle;

Cloud::Cloud(asio::any_io_executor executor, const lifecycle::Options& options,
             const lifecycle::Parts& parts, ClusterWriter& writer, const Clock& clock,
             WorkLimits limits, CloudObserver* observer)
    : clock_(clock),
      rules_(options, parts),
      observer_(observer),
      changed_(executor),
      work_(
          executor, writer,
          [this](const auto& action, const auto& outcome) { settle(action, outcome); }, limits) {}

void Cloud::set(const sync::Node& node) {
  add(rules_.set_node(clock_.mono(), clock_.wall(), node));
}

void Cloud::set(const sync::Pod& pod) { add(rules_.set_pod(clock_.mono(), clock_.wall(), pod)); }

void Cloud::set(const sync::Lease& lease) { rules_.set_lease(clock_.mono(), lease); }

void Cloud::set(const sync::DaemonSet& set) { rules_.set_daemon_set(set); }

void Cloud::remove_node(const std::string& name) { add(rules_.remove_node(name)); }

void Cloud::remove_pod(const std::string& namespace_name, const std::string& name) {
  add(rules_.remove_pod(namespace_name, name));
}

void Cloud::remove_lease(const std::string& name) { rules_.remove_lease(name); }

void Cloud::remove_daemon_set(const std::string& namespace_name, const std::string& name) {
  rules_.remove_daemon_set(namespace_name, name);
}

void Cloud::start() {
  if (std::exchange(mode_, Mode::acting) == Mode::acting) return;
  act(std::exchange(held_back_, {}));
}

void Cloud::follow() {
  CHECK(mode_ != Mode::acting);
  mode_ = Mode::following;
  turn_down(std::exchange(held_back_, {}));
}

void Cloud::resume() {
  paused_ = false;
  changed_.notify_all();
}

asio::awaitable<void> Cloud::run() {
  while (true) {
    if (!started() || paused_) {
      co_await changed_.wait();
      continue;
    }
    const MonoTime began = clock_.mono();
    const std::uint64_t passes = rules_.passes();
    add(rules_.tick(began, clock_.wall()));
    if (observer_ != nullptr && rules_.passes() != passes) observer_->passed(began);
    co_await changed_.wait_until(rules_.next());
  }
}

void Cloud::add(lifecycle::Actions actions) {
  switch (mode_) {
    case Mode::waiting:
      std::move(actions.begin(), actions.end(), std::back_inserter(held_back_));
      return;
    case Mode::following:
      turn_down(std::move(actions));
      return;
    case Mode::acting:
      act(std::move(actions));
      return;
  }
}

void Cloud::act(lifecycle::Actions actions) {
  for (const lifecycle::Action& action : actions) {
    if (observer_ != nullptr) observer_->wished(action);
  }
  work_.add(std::move(actions));
  // The rules may now be due earlier than the time that run() waits for.
  changed_.notify_all();
}

// A settled action may lead to others, which are rejected in turn. Events need no settling.
void Cloud::turn_down(lifecycle::Actions actions) {
  lifecycle::Outcome never;
  never.error = Errc::cancelled;
  for (const lifecycle::Action& action : actions) {
    if (std::holds_alternative<lifecycle::RecordEvent>(action)) continue;
    turn_down(rules_.settle(clock_.mono(), clock_.wall(), action, never));
  }
}

void Cloud::settle(const lifecycle::Action& action, const lifecycle::Outcome& outcome) {
  if (observer_ != nullptr) observer_->settled(action, outcome);
  add(rules_.settle(clock_.mono(), clock_.wall(), action, outcome));
}

}  // namespace holdfast::agent
