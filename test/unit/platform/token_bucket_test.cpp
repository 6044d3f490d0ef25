#include "platform/token_bucket.h"

namespace holdfast {
namespace {

using namespace std::chrono_literals;

constexpr MonoTime begin{};

TEST(TokenBucket, GivesOneAtOnceAndThenOneForEachPeriod) {
  TokenBucket bucket(begin, static_cast<double>(0.1F));
  const struct {
    Duration at;
    bool given;
  } rows[] = {{0s, true}, {0s, false}, {9s, false}, {9999ms, false}, {10s, true}, {11s, false}};
  for (const auto& row : rows) EXPECT_EQ(bucket.take(begin + row.at), row.given) << row.at.count();
}

TEST(TokenBucket, SavesUpOneTokenAtMost) {
  TokenBucket bucket(begin, 1.0);
  EXPECT_TRUE(bucket.take(begin + 1h));
  EXPECT_FALSE(bucket.take(begin + 1h));
  EXPECT_EQ(bucket.next(), begin + 1h + 1s);
}

TEST(TokenBucket, StoppedGivesNothing) {
  for (const double rate : {0.0, -1.0}) {
    TokenBucket bucket(begin, rate);
    EXPECT_TRUE(bucket.stopped());
    EXPECT_FALSE(bucket.take(begin + 24h));
    EXPECT_EQ(bucket.next(), MonoTime::max());
  }
}

}  // namespace
}  // namespace holdfast
