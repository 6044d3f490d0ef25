#include "agent/cloud/cloud.h"

#include "agent/cloud/hearing.h"
#include "sync/lifecycle/taints.h"
#include "test/support/run.h"
#include "test/unit/agent/cloud/fake_writer.h"

namespace holdfast::agent {
namespace {

using namespace std::chrono_literals;
namespace lifecycle = sync::lifecycle;
using lifecycle::Action;

MonoTime soon() { return loop::BootClock::now() + 10s; }

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

TEST(Cloud, NothingIsWrittenBeforeAllIsKnown) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    const SystemClock clock;
    FakeWriter writer(context.get_executor());
    Cloud cloud(context.get_executor(), {}, {}, writer, clock);
    loop::Tasks tasks(context.get_executor());
    tasks.spawn("run", cloud.run());
    cloud.set(cordoned("a"));
    co_await loop::sleep_until(loop::BootClock::now());
    EXPECT_EQ(writer.asked.size(), 0u);
    cloud.start();
    co_await writer.wait_for(2);
    EXPECT_EQ(writer.asked.size(), 2u);
    EXPECT_TRUE(std::holds_alternative<lifecycle::PatchTaints>(writer.asked[0]));
    EXPECT_TRUE(std::holds_alternative<lifecycle::RecordEvent>(writer.asked[1]));
    tasks.cancel();
    co_await cloud.stop(soon());
    co_await tasks.join();
  });
}

TEST(Cloud, OutcomesComeBackToTheRules) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    const SystemClock clock;
    FakeWriter writer(context.get_executor());
    writer.error = Errc::unavailable;
    lifecycle::Options options;
    options.monitor_period = 5ms;
    Cloud cloud(context.get_executor(), options, {}, writer, clock);
    loop::Tasks tasks(context.get_executor());
    tasks.spawn("run", cloud.run());
    cloud.start();
    cloud.set(cordoned("a"));
    // The taint fails and is tried again by the passes that follow.
    co_await writer.wait_for(6);
    EXPECT_GE(writer.asked.size(), 6u);
    tasks.cancel();
    co_await cloud.stop(soon());
    co_await tasks.join();
  });
}

TEST(Cloud, PausedItJudgesNobody) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    const SystemClock clock;
    FakeWriter writer(context.get_executor());
    Cloud cloud(context.get_executor(), {}, {}, writer, clock);
    loop::Tasks tasks(context.get_executor());
    cloud.pause();
    cloud.start();
    tasks.spawn("run", cloud.run());
    cloud.set(ready_node("a"));
    co_await loop::sleep_until(loop::BootClock::now());
    EXPECT_EQ(writer.asked.size(), 0u);
    cloud.resume();
    co_await writer.wait_for(1);
    EXPECT_EQ(writer.asked.size(), 1u);
    tasks.cancel();
    co_await cloud.stop(soon());
    co_await tasks.join();
  });
}

TEST(Hearing, OnlyALongGapIsForgiven) {
  constexpr MonoTime start{};
  Hearing hearing(start, 25s);
  EXPECT_FALSE(hearing.heard(start + 1h)) << "nobody asked meanwhile: that is no gap";
  hearing.failed();
  EXPECT_TRUE(hearing.deaf());
  EXPECT_FALSE(hearing.heard(start + 1h + 25s));
  EXPECT_FALSE(hearing.deaf());
  hearing.failed();
  EXPECT_TRUE(hearing.heard(start + 1h + 51s));
  EXPECT_FALSE(hearing.heard(start + 2h));
}

}  // namespace
}  // namespace holdfast::agent
