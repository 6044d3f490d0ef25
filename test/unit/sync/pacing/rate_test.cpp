#include "sync/pacing/token_bucket.h"

#include "sync/pacing/rate_queue.h"
#include "test/unit/sync/lifecycle/describe.h"

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

TEST(TokenBucket, GivesOneAtOnceAndThenOneForEachPeriod) {
  TokenBucket bucket(lifecycle::start, static_cast<double>(0.1F));
  const struct {
    Duration at;
    bool given;
  } rows[] = {{0s, true}, {0s, false}, {9s, false}, {9999ms, false}, {10s, true}, {11s, false}};
  for (const auto& row : rows)
    EXPECT_EQ(bucket.take(lifecycle::start + row.at), row.given) << row.at.count();
}

TEST(TokenBucket, SavesUpOneTokenAtMost) {
  TokenBucket bucket(lifecycle::start, 1.0);
  EXPECT_TRUE(bucket.take(lifecycle::start + 1h));
  EXPECT_FALSE(bucket.take(lifecycle::start + 1h));
  EXPECT_EQ(bucket.next(), lifecycle::start + 1h + 1s);
}

TEST(TokenBucket, StoppedGivesNothing) {
  for (const double rate : {0.0, -1.0}) {
    TokenBucket bucket(lifecycle::start, rate);
    EXPECT_TRUE(bucket.stopped());
    EXPECT_FALSE(bucket.take(lifecycle::start + 24h));
    EXPECT_EQ(bucket.next(), MonoTime::max());
  }
}

TEST(RateQueue, WhoWaitsKeepsItsPlace) {
  RateQueue queue(lifecycle::start, 1.0);
  EXPECT_EQ(queue.next(), MonoTime::max());
  EXPECT_TRUE(queue.add(lifecycle::start, "a"));
  EXPECT_TRUE(queue.add(lifecycle::start, "b"));
  queue.add_again(lifecycle::start + 5s, "a");
  EXPECT_EQ(queue.next(), lifecycle::start);
  EXPECT_EQ(run(queue, lifecycle::start + 5s), Names{"a"});
  EXPECT_EQ(queue.next(), lifecycle::start + 6s);
  EXPECT_EQ(run(queue, lifecycle::start + 6s), Names{"b"});
}

TEST(RateQueue, AddAgainQueuesWhoHadItsTurn) {
  RateQueue queue(lifecycle::start, 1.0);
  queue.add(lifecycle::start, "a");
  EXPECT_EQ(run(queue, lifecycle::start), Names{"a"});
  EXPECT_FALSE(queue.add(lifecycle::start + 1s, "a"));
  EXPECT_EQ(run(queue, lifecycle::start + 1s), Names{});
  queue.add_again(lifecycle::start + 2s, "a");
  EXPECT_EQ(run(queue, lifecycle::start + 2s), Names{"a"});
}

TEST(RateQueue, AddAgainLeavesAloneWhatIsBeingHandled) {
  RateQueue queue(lifecycle::start, 1.0);
  queue.add(lifecycle::start, "a");
  ASSERT_EQ(queue.take(lifecycle::start), "a");
  queue.add_again(lifecycle::start, "a");
  EXPECT_EQ(queue.waiting(), Names{});
  queue.again(lifecycle::start, "a", 3s);
  EXPECT_EQ(queue.waiting(), Names{"a"});
  EXPECT_EQ(run(queue, lifecycle::start + 2s), Names{});
  EXPECT_EQ(run(queue, lifecycle::start + 4s), Names{"a"});
}

TEST(RateQueue, RemovedWhileHandledIsNotPutBack) {
  RateQueue queue(lifecycle::start, 1.0);
  queue.add(lifecycle::start, "a");
  ASSERT_EQ(queue.take(lifecycle::start), "a");
  EXPECT_TRUE(queue.remove("a"));
  queue.again(lifecycle::start, "a", 0s);
  EXPECT_EQ(queue.waiting(), Names{});
}

TEST(RateQueue, StoppedZoneGoesOnAtAnyRate) {
  for (const double rate : {0.5, 1.0, 2.0}) {
    RateQueue queue(lifecycle::start, 3.0);
    queue.add(lifecycle::start, "a");
    queue.set_rate(lifecycle::start, 0);
    EXPECT_EQ(queue.next(), MonoTime::max());
    EXPECT_EQ(run(queue, lifecycle::start + 1h), Names{});
    queue.set_rate(lifecycle::start + 1h, rate);
    EXPECT_EQ(run(queue, lifecycle::start + 1h), Names{}) << "the new bucket starts empty";
    EXPECT_EQ(run(queue, lifecycle::start + 1h + 2s), Names{"a"}) << rate;
  }
}

}  // namespace
}  // namespace holdfast::sync::pacing
