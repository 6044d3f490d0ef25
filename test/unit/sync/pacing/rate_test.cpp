#include "sync/pacing/rate_queue.h"
#include "test/unit/sync/pacing/start.h"

namespace holdfast::sync::pacing {
namespace {

using namespace std::chrono_literals;

using Names = std::vector<std::string>;

Names run(RateQueue& queue, MonoTime now) {
  Names seen;
  while (const auto name = queue.take(now)) {
    seen.push_back(*name);
    queue.done(*name);
  }
  return seen;
}

TEST(RateQueue, WhoWaitsKeepsItsPlace) {
  RateQueue queue(start, 1.0);
  EXPECT_EQ(queue.next(), MonoTime::max());
  EXPECT_TRUE(queue.add(start, "a"));
  EXPECT_TRUE(queue.add(start, "b"));
  queue.add_again(start + 5s, "a");
  EXPECT_EQ(queue.next(), start);
  EXPECT_EQ(run(queue, start + 5s), Names{"a"});
  EXPECT_EQ(queue.next(), start + 6s);
  EXPECT_EQ(run(queue, start + 6s), Names{"b"});
}

TEST(RateQueue, AddAgainQueuesWhoHadItsTurn) {
  RateQueue queue(start, 1.0);
  queue.add(start, "a");
  EXPECT_EQ(run(queue, start), Names{"a"});
  EXPECT_FALSE(queue.add(start + 1s, "a"));
  EXPECT_EQ(run(queue, start + 1s), Names{});
  queue.add_again(start + 2s, "a");
  EXPECT_EQ(run(queue, start + 2s), Names{"a"});
}

TEST(RateQueue, AddAgainLeavesAloneWhatIsBeingHandled) {
  RateQueue queue(start, 1.0);
  queue.add(start, "a");
  ASSERT_EQ(queue.take(start), "a");
  queue.add_again(start, "a");
  EXPECT_EQ(queue.waiting(), Names{});
  queue.again(start, "a", 3s);
  EXPECT_EQ(queue.waiting(), Names{"a"});
  EXPECT_EQ(run(queue, start + 2s), Names{});
  EXPECT_EQ(run(queue, start + 4s), Names{"a"});
}

TEST(RateQueue, RemovedWhileHandledIsNotPutBack) {
  RateQueue queue(start, 1.0);
  queue.add(start, "a");
  ASSERT_EQ(queue.take(start), "a");
  EXPECT_TRUE(queue.remove("a"));
  queue.again(start, "a", 0s);
  EXPECT_EQ(queue.waiting(), Names{});
}

TEST(RateQueue, StoppedZoneGoesOnAtAnyRate) {
  for (const double rate : {0.5, 1.0, 2.0}) {
    RateQueue queue(start, 3.0);
    queue.add(start, "a");
    queue.set_rate(start, 0);
    EXPECT_EQ(queue.next(), MonoTime::max());
    EXPECT_EQ(run(queue, start + 1h), Names{});
    queue.set_rate(start + 1h, rate);
    EXPECT_EQ(run(queue, start + 1h), Names{}) << "the new bucket starts empty";
    EXPECT_EQ(run(queue, start + 1h + 2s), Names{"a"}) << rate;
  }
}

}  // namespace
}  // namespace holdfast::sync::pacing
