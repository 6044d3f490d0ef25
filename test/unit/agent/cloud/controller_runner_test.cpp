#include "agent/cloud/controller_runner.h"

#include "sync/lifecycle/taints.h"
#include "test/support/run.h"
#include "test/unit/agent/cloud/fake_performer.h"

namespace holdfast::agent {
namespace {

using namespace std::chrono_literals;
namespace lifecycle = sync::lifecycle;

sync::Node ready_node(const std::string& name) {
  sync::Node node;
  node.metadata.name = name;
  node.metadata.uid = "uid";
  node.status.conditions.resize(1);
  node.status.conditions[0].type = "Ready";
  node.status.conditions[0].status = "True";
  return node;
}

sync::Node cordoned(const std::string& name) {
  sync::Node node = ready_node(name);
  node.spec.unschedulable = true;
  return node;
}

void set(LifecycleRunner& runner, const sync::Node& node) {
  runner.feed(sync::control::Changed<sync::Node>{node});
}

TEST(ControllerRunner, NothingIsWrittenBeforeAllIsKnown) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    const Clock& clock = loop::clock_of(context.get_executor());
    FakePerformer performer(context.get_executor());
    lifecycle::Controller machine(lifecycle::Options{});
    LifecycleRunner runner(context.get_executor(), machine, performer, clock);
    loop::Tasks tasks(context.get_executor());
    tasks.spawn("run", runner.run());
    set(runner, cordoned("a"));
    co_await loop::wait_for(0s);
    EXPECT_EQ(performer.asked.size(), 0u);
    runner.start();
    co_await performer.wait_for(2);
    EXPECT_EQ(performer.asked.size(), 2u);
    EXPECT_TRUE(std::holds_alternative<lifecycle::PatchTaints>(performer.asked[0]));
    EXPECT_TRUE(std::holds_alternative<lifecycle::RecordEvent>(performer.asked[1]));
    tasks.cancel();
    co_await runner.stop(FakePerformer::soon());
    co_await tasks.join();
  });
}

TEST(ControllerRunner, OutcomesComeBackToTheMachine) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    const Clock& clock = loop::clock_of(context.get_executor());
    FakePerformer performer(context.get_executor());
    performer.error = Errc::unavailable;
    lifecycle::Options options;
    options.monitor_period = 5ms;
    lifecycle::Controller machine(options);
    LifecycleRunner runner(context.get_executor(), machine, performer, clock);
    loop::Tasks tasks(context.get_executor());
    tasks.spawn("run", runner.run());
    runner.start();
    set(runner, cordoned("a"));
    // The taint cannot be written, so each later pass tries it again.
    co_await performer.wait_for(6);
    EXPECT_GE(performer.asked.size(), 6u);
    tasks.cancel();
    co_await runner.stop(FakePerformer::soon());
    co_await tasks.join();
  });
}

TEST(ControllerRunner, PausedItMakesNoDecisions) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    const Clock& clock = loop::clock_of(context.get_executor());
    FakePerformer performer(context.get_executor());
    lifecycle::Controller machine(lifecycle::Options{});
    LifecycleRunner runner(context.get_executor(), machine, performer, clock);
    loop::Tasks tasks(context.get_executor());
    runner.pause();
    runner.start();
    tasks.spawn("run", runner.run());
    set(runner, ready_node("a"));
    co_await loop::wait_for(0s);
    EXPECT_EQ(performer.asked.size(), 0u);
    runner.resume();
    co_await performer.wait_for(1);
    EXPECT_EQ(performer.asked.size(), 1u);
    tasks.cancel();
    co_await runner.stop(FakePerformer::soon());
    co_await tasks.join();
  });
}

}  // namespace
}  // namespace holdfast::agent
