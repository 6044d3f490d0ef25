#include "sync/pacing/request_bucket.h"

namespace holdfast::sync::pacing {
namespace {

using namespace std::chrono_literals;

TEST(RequestBucket, GivesABurstAndThenARate) {
  const MonoTime start{1h};
  RequestBucket bucket(start, 20, 30);
  EXPECT_EQ(bucket.saturation(start), 0);
  for (int index = 0; index < 30; ++index) EXPECT_EQ(bucket.take(start), start);
  EXPECT_EQ(bucket.saturation(start), 1);
  EXPECT_EQ(bucket.take(start), start + 50ms);
  EXPECT_EQ(bucket.take(start), start + 100ms);
  EXPECT_EQ(bucket.take(start + 60ms), start + 150ms) << "waiters are served in FIFO order";
  EXPECT_EQ(bucket.take(start + 1h), start + 1h);
  for (int index = 0; index < 29; ++index) EXPECT_EQ(bucket.take(start + 1h), start + 1h);
  EXPECT_EQ(bucket.take(start + 1h), start + 1h + 50ms) << "unused time saves up at most one burst";
}

TEST(RequestBucket, APauseHoldsEverybody) {
  const MonoTime start{1h};
  RequestBucket bucket(start, 20, 30);
  bucket.hold(start + 5s);
  bucket.hold(start + 3s);
  EXPECT_EQ(bucket.take(start), start + 5s);
  EXPECT_EQ(bucket.take(start + 6s), start + 6s);
}

}  // namespace
}  // namespace holdfast::sync::pacing
