#include "agent/cloud/effect_queue.h"

#include "test/support/run.h"
#include "test/unit/agent/cloud/fake_performer.h"

namespace holdfast::agent {
namespace {

using namespace std::chrono_literals;
namespace lifecycle = sync::lifecycle;
using lifecycle::Effect;
using lifecycle::Effects;
using Queue = EffectQueue<Effect, lifecycle::Outcome>;

Effect taint(const std::string& node) {
  lifecycle::PatchTaints patch;
  patch.node = node;
  return patch;
}
Effect status(const std::string& node) {
  lifecycle::UpdateNodeStatus update;
  update.node = node;
  return update;
}
Effect mark(const std::string& pod) { return lifecycle::MarkPodNotReady{{"d", pod, ""}, {}}; }
Effect deletion(const std::string& pod) { return lifecycle::DeletePod{{"d", pod, ""}}; }
Effect event() { return lifecycle::RecordEvent{}; }

void ignore(const Effect& /*effect*/, const lifecycle::Outcome& /*outcome*/) {}

TEST(EffectQueue, TheMostUrgentGoesFirst) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    FakePerformer performer(context.get_executor());
    performer.hold();
    Queue queue(context.get_executor(), performer, ignore, {.at_once = 1});
    queue.add({event()});
    queue.add({event(), mark("p"), deletion("q"), taint("a"), status("b")});
    performer.release();
    co_await performer.wait_for(6);
    co_await queue.stop(FakePerformer::soon());
    const Effects expect{event(), taint("a"), status("b"), deletion("q"), mark("p"), event()};
    EXPECT_EQ(performer.asked, expect);
  });
}

TEST(EffectQueue, NeverTwoAtOnceForOneObject) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    FakePerformer performer(context.get_executor());
    performer.hold();
    Queue queue(context.get_executor(), performer, ignore, {.at_once = 10});
    queue.add({taint("a"), taint("a"), taint("b"), mark("p"), mark("p")});
    co_await performer.wait_for(3);
    const Effects first{taint("a"), taint("b"), mark("p")};
    EXPECT_EQ(performer.asked, first);
    EXPECT_EQ(queue.waiting(), 2u);
    performer.release();
    co_await performer.wait_for(5);
    co_await queue.stop(FakePerformer::soon());
    EXPECT_EQ(performer.answered, 5u);
  });
}

TEST(EffectQueue, OnlySoManyAtOnceAndSoManyEventsWait) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    FakePerformer performer(context.get_executor());
    performer.hold();
    Queue queue(context.get_executor(), performer, ignore, {.at_once = 2, .reports = 3});
    for (int index = 0; index < 10; ++index) queue.add({event()});
    co_await performer.wait_for(2);
    EXPECT_EQ(queue.under_way(), 2u);
    EXPECT_EQ(queue.waiting(), 3u);
    EXPECT_EQ(queue.reports_dropped(), 5u);
    performer.release();
    co_await performer.wait_for(5);
    co_await queue.stop(FakePerformer::soon());
  });
}

TEST(EffectQueue, TellsHowItWentAndTakesMoreFromThere) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    FakePerformer performer(context.get_executor());
    performer.error = Errc::conflict;
    Queue* more = nullptr;
    std::vector<lifecycle::Outcome> outcomes;
    const auto settled = [&more, &outcomes](const Effect& effect, const lifecycle::Outcome& out) {
      outcomes.push_back(out);
      if (effect == taint("a")) more->add({taint("b")});
    };
    Queue queue(context.get_executor(), performer, settled, {});
    more = &queue;
    queue.add({taint("a")});
    co_await performer.wait_for(2);
    co_await queue.stop(FakePerformer::soon());
    lifecycle::Outcome conflict;
    conflict.error = Errc::conflict;
    EXPECT_EQ(outcomes, (std::vector{conflict, conflict}));
  });
}

TEST(EffectQueue, AnExceptionFreesTheSlotAndTheObject) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    FakePerformer performer(context.get_executor());
    performer.throws = true;
    Queue queue(context.get_executor(), performer, ignore, {.at_once = 1});
    queue.add({taint("a"), taint("a"), taint("b")});
    co_await performer.wait_for(3);
    EXPECT_EQ(performer.asked.size(), 3u);
    co_await queue.stop(FakePerformer::soon());
    EXPECT_EQ(queue.under_way(), 0u);
  });
}

TEST(EffectQueue, AnEffectMayEndAfterTheQueue) {
  test::VirtualTime time;
  FakePerformer performer(time.executor());
  performer.hold();
  {
    Queue queue(time.executor(), performer, ignore, {.at_once = 1});
    queue.add({taint("a"), taint("b")});
    time.settle();
  }
  performer.release();
  time.settle();
  EXPECT_EQ(performer.asked.size(), 1u);
}

TEST(EffectQueue, AnEffectThatHasNotBegunEndsWithTheQueue) {
  test::VirtualTime time;
  FakePerformer performer(time.executor());
  {
    Queue queue(time.executor(), performer, ignore, {.at_once = 1});
    queue.add({taint("a"), taint("b")});
  }
  time.settle();
  EXPECT_TRUE(performer.asked.empty());
}

TEST(EffectQueue, StopCutsOffWhatDoesNotEnd) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    FakePerformer performer(context.get_executor());
    performer.hold();
    Queue queue(context.get_executor(), performer, ignore, {.at_once = 1});
    queue.add({taint("a"), taint("b")});
    co_await performer.wait_for(1);
    co_await queue.stop(test::VirtualClock::begin);
    EXPECT_EQ(performer.asked.size(), 1u);
    EXPECT_EQ(performer.answered, 0u);
  });
}

}  // namespace
}  // namespace holdfast::agent
