#include "sync/pacing/deadlines.h"

#include "platform/random.h"
#include "sync/pacing/timed_queue.h"
#include "test/unit/sync/lifecycle/describe.h"

namespace holdfast::sync::pacing {
namespace {

using namespace std::chrono_literals;

using Ids = std::vector<Deadlines::Id>;

Ids take(Deadlines& deadlines, MonoTime now) {
  Ids due;
  deadlines.take_before(now, due);
  std::sort(due.begin(), due.end());
  return due;
}

TEST(Deadlines, DueIsStrictlyBeforeNowAndOnce) {
  Deadlines deadlines;
  deadlines.set(3, lifecycle::start + 10s);
  deadlines.set(1, lifecycle::start + 20s);
  EXPECT_EQ(deadlines.next(), lifecycle::start + 10s);
  EXPECT_EQ(take(deadlines, lifecycle::start + 10s), Ids{});
  EXPECT_EQ(take(deadlines, lifecycle::start + 10s + 1ns), Ids{3});
  EXPECT_EQ(take(deadlines, lifecycle::start + 11s), Ids{});
  EXPECT_EQ(take(deadlines, lifecycle::start + 1h), Ids{1});
  EXPECT_EQ(deadlines.next(), MonoTime::max());
}

TEST(Deadlines, MovedLaterEarlierAndCleared) {
  Deadlines deadlines;
  deadlines.set(0, lifecycle::start + 10s);
  deadlines.set(0, lifecycle::start + 30s);
  deadlines.set(1, lifecycle::start + 30s);
  deadlines.set(1, lifecycle::start + 5s);
  deadlines.set(2, lifecycle::start + 5s);
  deadlines.clear(2);
  EXPECT_EQ(take(deadlines, lifecycle::start + 20s), Ids{1});
  EXPECT_EQ(take(deadlines, lifecycle::start + 31s), Ids{0});
}

// Against a plain map, with a seed that is printed when it fails.
TEST(Deadlines, AgreesWithAMap) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Deadlines deadlines;
    std::map<Deadlines::Id, MonoTime> model;
    MonoTime now = lifecycle::start;
    for (int turn = 0; turn < 400; ++turn) {
      const auto id = static_cast<Deadlines::Id>(random.below(20));
      const MonoTime when = now + std::chrono::seconds(random.below(60));
      deadlines.set(id, when);
      model[id] = when;
      if (random.below(3) != 0) continue;
      now += std::chrono::seconds(random.below(20));
      Ids expected;
      for (const auto& [key, due] : model) {
        if (due < now) expected.push_back(key);
      }
      for (const Deadlines::Id key : expected) model.erase(key);
      ASSERT_EQ(take(deadlines, now), expected);
    }
  }
}

TEST(TimedQueue, FiresOnceInOrder) {
  TimedQueue queue;
  EXPECT_EQ(queue.next(), MonoTime::max());
  EXPECT_TRUE(queue.add(lifecycle::start, "late", {lifecycle::start, lifecycle::start + 20s}));
  EXPECT_TRUE(queue.add(lifecycle::start, "soon", {lifecycle::start, lifecycle::start + 10s}));
  EXPECT_FALSE(queue.add(lifecycle::start, "soon", {lifecycle::start, lifecycle::start + 1s}));
  EXPECT_EQ(queue.next(), lifecycle::start + 10s);
  EXPECT_EQ(queue.take(lifecycle::start + 9s), std::vector<std::string>{});
  EXPECT_EQ(queue.take(lifecycle::start + 1min), (std::vector<std::string>{"soon", "late"}));
  EXPECT_EQ(queue.size(), 0u);
}

TEST(TimedQueue, UpdatesAndCancels) {
  TimedQueue queue;
  using Update = TimedQueue::Update;
  EXPECT_EQ(queue.update(lifecycle::start, "a", {lifecycle::start, lifecycle::start + 10s}),
            Update::added);
  EXPECT_EQ(
      queue.update(lifecycle::start + 1s, "a", {lifecycle::start + 1s, lifecycle::start + 10s}),
      Update::kept);
  EXPECT_EQ(
      queue.update(lifecycle::start + 1s, "a", {lifecycle::start + 1s, lifecycle::start + 5s}),
      Update::moved);
  EXPECT_EQ(*queue.find("a"), (TimedQueue::Entry{lifecycle::start + 1s, lifecycle::start + 5s}));
  EXPECT_TRUE(queue.cancel("a"));
  EXPECT_FALSE(queue.cancel("a"));
  EXPECT_EQ(queue.find("a"), nullptr);
}

}  // namespace
}  // namespace holdfast::sync::pacing
