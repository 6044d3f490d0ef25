#include "agent/cloud/work.h"

#include "test/support/run.h"
#include "test/unit/agent/cloud/fake_writer.h"

namespace holdfast::agent {
namespace {

using namespace std::chrono_literals;
namespace lifecycle = sync::lifecycle;
using lifecycle::Action;
using lifecycle::Actions;

MonoTime soon() { return loop::BootClock::now() + 10s; }

Action taint(const std::string& node) {
  lifecycle::PatchTaints patch;
  patch.node = node;
  return patch;
}
Action status(const std::string& node) {
  lifecycle::UpdateNodeStatus update;
  update.node = node;
  return update;
}
Action mark(const std::string& pod) { return lifecycle::MarkPodNotReady{{"d", pod, ""}, {}}; }
Action deletion(const std::string& pod) { return lifecycle::DeletePod{{"d", pod, ""}}; }
Action event() { return lifecycle::RecordEvent{}; }

void ignore(const Action& /*action*/, const lifecycle::Outcome& /*outcome*/) {}

TEST(Work, TheMostUrgentGoesFirst) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    FakeWriter writer(context.get_executor());
    writer.hold();
    Work work(context.get_executor(), writer, ignore, {.at_once = 1});
    work.add({event()});
    work.add({event(), mark("p"), deletion("q"), taint("a"), status("b")});
    writer.release();
    co_await writer.wait_for(6);
    co_await work.stop(soon());
    const Actions expect{event(), taint("a"), status("b"), deletion("q"), mark("p"), event()};
    EXPECT_EQ(writer.asked, expect);
  });
}

TEST(Work, NeverTwoAtOnceForOneObject) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    FakeWriter writer(context.get_executor());
    writer.hold();
    Work work(context.get_executor(), writer, ignore, {.at_once = 10});
    work.add({taint("a"), taint("a"), taint("b"), mark("p"), mark("p")});
    co_await writer.wait_for(3);
    const Actions first{taint("a"), taint("b"), mark("p")};
    EXPECT_EQ(writer.asked, first);
    EXPECT_EQ(work.waiting(), 2u);
    writer.release();
    co_await writer.wait_for(5);
    co_await work.stop(soon());
    EXPECT_EQ(writer.answered, 5u);
  });
}

TEST(Work, OnlySoManyAtOnceAndSoManyEventsWait) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    FakeWriter writer(context.get_executor());
    writer.hold();
    Work work(context.get_executor(), writer, ignore, {.at_once = 2, .events = 3});
    for (int index = 0; index < 10; ++index) work.add({event()});
    co_await writer.wait_for(2);
    EXPECT_EQ(work.under_way(), 2u);
    EXPECT_EQ(work.waiting(), 3u);
    EXPECT_EQ(work.events_dropped(), 5u);
    writer.release();
    co_await writer.wait_for(5);
    co_await work.stop(soon());
  });
}

TEST(Work, TellsHowItWentAndTakesMoreFromThere) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    FakeWriter writer(context.get_executor());
    writer.error = Errc::conflict;
    Work* more = nullptr;
    std::vector<lifecycle::Outcome> outcomes;
    const auto settled = [&more, &outcomes](const Action& action, const lifecycle::Outcome& out) {
      outcomes.push_back(out);
      if (action == taint("a")) more->add({taint("b")});
    };
    Work work(context.get_executor(), writer, settled, {});
    more = &work;
    work.add({taint("a")});
    co_await writer.wait_for(2);
    co_await work.stop(soon());
    lifecycle::Outcome conflict;
    conflict.error = Errc::conflict;
    EXPECT_EQ(outcomes, (std::vector{conflict, conflict}));
  });
}

TEST(Work, AnExceptionFreesTheSlotAndTheObject) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    FakeWriter writer(context.get_executor());
    writer.throws = true;
    Work work(context.get_executor(), writer, ignore, {.at_once = 1});
    work.add({taint("a"), taint("a"), taint("b")});
    co_await writer.wait_for(3);
    EXPECT_EQ(writer.asked.size(), 3u);
    co_await work.stop(soon());
    EXPECT_EQ(work.under_way(), 0u);
  });
}

TEST(Work, AWriteMayEndAfterTheWork) {
  asio::io_context context(1);
  FakeWriter writer(context.get_executor());
  writer.hold();
  {
    Work work(context.get_executor(), writer, ignore, {.at_once = 1});
    work.add({taint("a"), taint("b")});
    (void)context.poll();
  }
  writer.release();
  (void)context.poll();
  EXPECT_EQ(writer.asked.size(), 1u);
}

TEST(Work, AWriteThatHasNotBegunEndsWithTheWork) {
  asio::io_context context(1);
  FakeWriter writer(context.get_executor());
  {
    Work work(context.get_executor(), writer, ignore, {.at_once = 1});
    work.add({taint("a"), taint("b")});
  }
  (void)context.poll();
  EXPECT_TRUE(writer.asked.empty());
}

TEST(Work, StopCutsOffWhatDoesNotEnd) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    FakeWriter writer(context.get_executor());
    writer.hold();
    Work work(context.get_executor(), writer, ignore, {.at_once = 1});
    work.add({taint("a"), taint("b")});
    co_await writer.wait_for(1);
    co_await work.stop(loop::BootClock::now());
    EXPECT_EQ(writer.asked.size(), 1u);
    EXPECT_EQ(writer.answered, 0u);
  });
}

}  // namespace
}  // namespace holdfast::agent
