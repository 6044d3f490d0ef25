// The guarantees for coroutines on one loop: events, groups of tasks, cancellation.

#include <boost/asio/this_coro.hpp>
#include <stdexcept>

#include "platform/loop/event.h"
#include "platform/loop/tasks.h"
#include "test/support/run.h"

namespace holdfast::loop {
namespace {

using namespace std::chrono_literals;
using Notes = std::vector<std::string>;

asio::awaitable<void> wait_and_note(Event& event, MonoTime deadline, std::string name,
                                    Notes& notes) {
  const bool notified = co_await event.wait_until(deadline);
  notes.push_back(name + (notified ? " notified" : " late"));
}

// Records when its scope is left, whether normally or by cancellation.
struct Leaving {
  Leaving(std::string left, Notes& into) : name(std::move(left)), notes(into) {}
  ~Leaving() { notes.push_back(name + " left"); }
  Leaving(const Leaving&) = delete;
  Leaving& operator=(const Leaving&) = delete;
  std::string name;
  Notes& notes;
};

asio::awaitable<void> wait_for_ever(Event& event, std::string name, Notes& notes) {
  const Leaving leaving(name, notes);
  notes.push_back(name + " waits");
  for (;;) co_await event.wait();
}

// Lets all ready handlers run, `count` times.
asio::awaitable<void> turns(int count) {
  for (int i = 0; i < count; ++i) co_await wait_for(0s);
}

TEST(Loop, AnEventWakesEveryoneWhoWaitsAndRemembersNothing) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    Event event(context.get_executor());
    Tasks tasks(context.get_executor());
    Notes notes;
    event.notify_all();  // nobody waits, and the event is not remembered
    tasks.spawn("a", wait_and_note(event, MonoTime::max(), "a", notes));
    tasks.spawn("b", wait_and_note(event, MonoTime::max(), "b", notes));
    tasks.spawn("c", wait_and_note(event, MonoTime() - 1s, "c", notes));
    co_await turns(5);
    EXPECT_EQ(notes, Notes{"c late"});
    event.notify_all();
    event.notify_all();
    co_await tasks.join();
    EXPECT_EQ(notes, (Notes{"c late", "a notified", "b notified"}));
  });
}

TEST(Loop, ADeadlineEndsAWait) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    Event event(context.get_executor());
    const Clock& clock = clock_of(context.get_executor());
    const MonoTime deadline = clock.mono() + 20ms;
    const bool notified = co_await event.wait_until(deadline);
    EXPECT_FALSE(notified);
    EXPECT_EQ(clock.mono(), deadline);
    const MonoTime later = clock.mono() + 40ms;
    co_await sleep_until(later);
    EXPECT_EQ(clock.mono(), later);
  });
}

TEST(Loop, CancelledTasksLeaveThroughTheirDestructors) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    Event event(context.get_executor());
    Notes notes;
    Tasks tasks(context.get_executor());
    tasks.spawn("a", wait_for_ever(event, "a", notes));
    tasks.spawn("b", wait_for_ever(event, "b", notes));
    co_await turns(5);
    EXPECT_EQ(notes, (Notes{"a waits", "b waits"}));
    event.notify_all();
    co_await turns(5);
    EXPECT_EQ(tasks.size(), 2u);
    tasks.cancel();
    tasks.cancel();
    co_await tasks.join();
    EXPECT_EQ(tasks.size(), 0u);
    EXPECT_EQ(notes, (Notes{"a waits", "b waits", "a left", "b left"}));
    tasks.spawn("c", wait_for_ever(event, "c", notes));
    EXPECT_EQ(tasks.size(), 0u) << "after cancel() no task starts";
  });
}

TEST(Loop, ATaskThatIsCancelledBeforeItsFirstTurnEndsToo) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    Event event(context.get_executor());
    Notes notes;
    Tasks tasks(context.get_executor());
    tasks.spawn("a", wait_for_ever(event, "a", notes));
    tasks.cancel();
    const bool ended = co_await tasks.join_until(MonoTime::max());
    EXPECT_TRUE(ended);
  });
}

asio::awaitable<void> throw_up() {
  co_await turns(1);
  throw std::runtime_error("loop test");
}

// The signals of a cancellation from outside the loop must not outlive the tasks that they are for.
TEST(Loop, ATaskMayEndAfterItWasCancelledFromOutside) {
  test::VirtualTime time;
  asio::io_context& context = time.context();
  Notes notes;
  Event event(context.get_executor());
  Tasks tasks(context.get_executor());
  tasks.spawn("a", wait_and_note(event, MonoTime::max(), "a", notes));
  context.poll();
  event.notify_all();  // the task will end in its next turn
  tasks.cancel();
  context.restart();
  context.poll();
  EXPECT_EQ(tasks.size(), 0U);
  EXPECT_EQ(notes, Notes{"a notified"});
}

TEST(Loop, ATaskThatNeverWaitedMayBeCancelledBeforeTheLoopKnowsItsEnd) {
  test::VirtualTime time;
  asio::io_context& context = time.context();
  Tasks tasks(context.get_executor());
  tasks.spawn("short", []() -> asio::awaitable<void> { co_return; }());
  context.poll_one();  // it runs and ends; Asio posts its completion
  tasks.cancel();
  context.restart();
  EXPECT_NO_THROW(context.poll());
  EXPECT_EQ(tasks.size(), 0U);
}

TEST(Loop, ATaskThatNeverWaitedMayCancelItself) {
  test::VirtualTime time;
  asio::io_context& context = time.context();
  auto tasks = std::make_shared<Tasks>(context.get_executor());
  const std::weak_ptr<Tasks> group = tasks;
  const auto own = [](std::shared_ptr<Tasks>) -> asio::awaitable<void> { co_return; };
  Tasks& borrowed = *tasks;
  borrowed.spawn("the last owner of its group", own(std::move(tasks)));
  EXPECT_NO_THROW(context.poll());
  EXPECT_TRUE(group.expired());
}

TEST(Loop, AnExceptionEndsItsTaskAlone) {
  testing::internal::CaptureStderr();
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    Event event(context.get_executor());
    Notes notes;
    Tasks tasks(context.get_executor());
    tasks.spawn("bad", throw_up());
    tasks.spawn("good", wait_for_ever(event, "good", notes));
    co_await turns(10);
    EXPECT_EQ(tasks.size(), 1u);
    const bool ended = co_await tasks.join_until(test::VirtualClock::begin + 10ms);
    EXPECT_FALSE(ended) << "one task still runs";
    tasks.cancel();
    co_await tasks.join();
  });
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_NE(log.find("error task failed task=bad error=\"loop test\""), std::string::npos) << log;
}

}  // namespace
}  // namespace holdfast::loop
