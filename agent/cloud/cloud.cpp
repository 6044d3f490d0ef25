#include "agent/cloud/cloud.h"

#include <iterator>
#include <utility>

namespace holdfast::agent {

namespace lifecycle = sync::lifecycle;

Cloud::Cloud(asio::any_io_executor executor, const lifecycle::Options& options,
             const lifecycle::Parts& parts, ClusterWriter& writer, const Clock& clock,
             WorkLimits limits)
    : clock_(clock),
      rules_(options, parts),
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
  if (std::exchange(started_, true)) return;
  work_.add(std::exchange(held_back_, {}));
  changed_.notify_all();
}

void Cloud::resume() {
  paused_ = false;
  changed_.notify_all();
}

asio::awaitable<void> Cloud::run() {
  while (true) {
    if (!started_ || paused_) {
      co_await changed_.wait();
      continue;
    }
    add(rules_.tick(clock_.mono(), clock_.wall()));
    co_await changed_.wait_until(rules_.next());
  }
}

void Cloud::add(lifecycle::Actions actions) {
  if (!started_) {
    std::move(actions.begin(), actions.end(), std::back_inserter(held_back_));
    return;
  }
  work_.add(std::move(actions));
  // What came in may be due earlier than what run() waits for.
  changed_.notify_all();
}

void Cloud::settle(const lifecycle::Action& action, const lifecycle::Outcome& outcome) {
  add(rules_.settle(clock_.mono(), clock_.wall(), action, outcome));
}

}  // namespace holdfast::agent
