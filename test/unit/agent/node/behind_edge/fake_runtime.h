// A Runtime without processes: every container that is started runs until the test ends it.

#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "agent/node/runtime.h"
#include "sync/runtime/launch_plan.h"

namespace holdfast::agent::node::test {

// What survives a FakeRuntime, as containers survive the end of holdfast-node.
struct FakeContainers {
  sync::runtime::ObservedPods observed = {};
  std::vector<std::string> log = {};  // "start a/main", "terminate a/main", "forget a"
  std::map<std::string, sync::runtime::LaunchPlan> plans =
      {};  // the latest plan, by "pod/container"
};

class FakeRuntime final : public Runtime {
 public:
  FakeRuntime(FakeContainers& containers, const Clock& clock)
      : containers_(containers), clock_(clock) {}

  [[nodiscard]] std::string version() const override { return "fake://1"; }
  void adopt() override {}
  void start(const sync::runtime::StartContainer& start) override {
    sync::runtime::Attempt& made = add(start);
    made.state = sync::runtime::AttemptState::running;
    made.started = clock_.mono();
    made.started_wall = clock_.wall();
    containers_.log.push_back("start " + start.pod.name + "/" + start.container);
    containers_.plans[start.pod.name + "/" + start.container] = start.plan;
  }
  void reject_start(const sync::runtime::StartContainer& start, std::string why) override {
    end(add(start), {sync::runtime::ContainerExit::Kind::failed, 0, std::move(why)});
  }
  Status signal(const sync::runtime::SignalContainer& signal) override {
    containers_.log.push_back("stop " + signal.uid + "/" + signal.container);
    end(containers_.observed[signal.uid][signal.container].back(), {});
    wake_();
    return {};
  }
  void forget(const std::string& uid) override {
    containers_.log.push_back("forget " + uid);
    containers_.observed.erase(uid);
  }
  [[nodiscard]] const sync::runtime::ObservedPods& observed() const override {
    return containers_.observed;
  }
  [[nodiscard]] std::optional<ContainerRun> find(const std::string& /*uid*/,
                                                 const std::string& /*container*/,
                                                 std::int32_t /*number*/) const override {
    return std::nullopt;
  }
  void refresh(MonoTime /*now*/) override {}
  void maintain(MonoTime /*now*/) override {}
  [[nodiscard]] MonoTime deadline() const override { return MonoTime::max(); }
  void on_change(std::function<void()> wake) override { wake_ = std::move(wake); }
  asio::awaitable<void> stop() override { co_return; }

 private:
  sync::runtime::Attempt& add(const sync::runtime::StartContainer& start) {
    sync::runtime::Attempts& attempts = containers_.observed[start.pod.uid][start.container];
    attempts.push_back(
        {.number = start.number, .restarts = start.restarts, .next_delay = start.next_delay});
    return attempts.back();
  }
  void end(sync::runtime::Attempt& attempt, sync::runtime::ContainerExit exit) {
    attempt.state = sync::runtime::AttemptState::ended;
    attempt.ended = clock_.mono();
    attempt.ended_wall = clock_.wall();
    attempt.exit = std::move(exit);
  }

  FakeContainers& containers_;
  const Clock& clock_;
  std::function<void()> wake_ = [] {};
};

}  // namespace holdfast::agent::node::test
