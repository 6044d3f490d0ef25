#include "platform/random.h"

namespace holdfast {
namespace {

using namespace std::chrono_literals;

TEST(Random, TheSameSeedIsTheSameStory) {
  Random first(7);
  Random second(7);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(first.next(), second.next());
}

TEST(Random, StaysInItsBounds) {
  Random random(1);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_LT(random.unit(), 1.0);
    EXPECT_LT(random.below(3), 3u);
    const Duration drawn = random.jitter(10ms);
    EXPECT_GE(drawn, 0ms);
    EXPECT_LE(drawn, 10ms);
  }
  EXPECT_EQ(random.below(0), 0u);
  EXPECT_EQ(random.jitter(0s), 0s);
  EXPECT_EQ(random.jitter(-1s), 0s);
}

TEST(Random, UuidHasItsForm) {
  Random random(1);
  const std::string uuid = random.uuid();
  ASSERT_EQ(uuid.size(), 36u);
  EXPECT_EQ(uuid[14], '4');
  EXPECT_NE(std::string("89ab").find(uuid[19]), std::string::npos);
  EXPECT_NE(uuid, random.uuid());
  EXPECT_EQ(random.text(4, "a"), "aaaa");
}

}  // namespace
}  // namespace holdfast
