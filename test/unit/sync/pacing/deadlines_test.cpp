#include "sync/pacing/deadlines.h"

#include "platform/random.h"
#include "sync/pacing/timed_queue.h"
#include "test/unit/sync/pacing/start.h"

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
  deadlines.set(3, start + 10s);
  deadlines.set(1, start + 20s);
  EXPECT_EQ(deadlines.next(), start + 10s);
  EXPECT_EQ(take(deadlines, start + 10s), Ids{});
  EXPECT_EQ(take(deadlines, start + 10s + 1ns), Ids{3});
  EXPECT_EQ(take(deadlines, start + 11s), Ids{});
  EXPECT_EQ(take(deadlines, start + 1h), Ids{1});
  EXPECT_EQ(deadlines.next(), MonoTime::max());
}

TEST(Deadlines, MovedLaterEarlierAndCleared) {
  Deadlines deadlines;
  deadlines.set(0, start + 10s);
  deadlines.set(0, start + 30s);
  deadlines.set(1, start + 30s);
  deadlines.set(1, start + 5s);
  deadlines.set(2, start + 5s);
  deadlines.clear(2);
  EXPECT_EQ(take(deadlines, start + 20s), Ids{1});
  EXPECT_EQ(take(deadlines, start + 31s), Ids{0});
}

// Compares with a plain map under random operations. A failure prints the seed.
TEST(Deadlines, AgreesWithAMap) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Deadlines deadlines;
    std::map<Deadlines::Id, MonoTime> model;
    MonoTime now = start;
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
  EXPECT_TRUE(queue.add(start, "late", {start, start + 20s}));
  EXPECT_TRUE(queue.add(start, "soon", {start, start + 10s}));
  EXPECT_FALSE(queue.add(start, "soon", {start, start + 1s}));
  EXPECT_EQ(queue.next(), start + 10s);
  EXPECT_EQ(queue.take(start + 9s), std::vector<std::string>{});
  EXPECT_EQ(queue.take(start + 1min), (std::vector<std::string>{"soon", "late"}));
  EXPECT_EQ(queue.size(), 0u);
}

TEST(TimedQueue, UpdatesAndCancels) {
  TimedQueue queue;
  using Update = TimedQueue::Update;
  EXPECT_EQ(queue.update(start, "a", {start, start + 10s}), Update::added);
  EXPECT_EQ(queue.update(start + 1s, "a", {start + 1s, start + 10s}), Update::kept);
  EXPECT_EQ(queue.update(start + 1s, "a", {start + 1s, start + 5s}), Update::moved);
  EXPECT_EQ(*queue.find("a"), (TimedQueue::Entry{start + 1s, start + 5s}));
  EXPECT_TRUE(queue.cancel("a"));
  EXPECT_FALSE(queue.cancel("a"));
  EXPECT_EQ(queue.find("a"), nullptr);
}

}  // namespace
}  // namespace holdfast::sync::pacing
