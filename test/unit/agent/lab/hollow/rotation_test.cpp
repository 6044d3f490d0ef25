#include "agent/lab/hollow/rotation.h"

#include <map>
#include <vector>

namespace holdfast::agent::hollow {
namespace {

using namespace std::chrono_literals;

constexpr MonoTime rotation_start{std::chrono::hours(1)};

// How many turns fall into each second of `length`.
std::vector<int> turns_per_second(Rotation& rotation, std::chrono::seconds length) {
  std::vector<int> counts;
  for (auto second = 0s; second < length; second += 1s) {
    int count = 0;
    while (rotation.next() < rotation_start + second + 1s) {
      const MonoTime now = rotation.next();
      EXPECT_TRUE(rotation.take(now));
      ++count;
    }
    counts.push_back(count);
  }
  return counts;
}

TEST(HollowRotation, TurnsAreEvenlySpread) {
  Rotation rotation(1000, rotation_start, 10s, true);
  EXPECT_EQ(turns_per_second(rotation, 30s), std::vector<int>(30, 100));
}

TEST(HollowRotation, WithoutSpreadAllAreDueAtOnce) {
  Rotation rotation(3, rotation_start, 2s, false);
  EXPECT_EQ(turns_per_second(rotation, 4s), (std::vector<int>{3, 0, 3, 0}));
}

TEST(HollowRotation, EachNodeHasOneTurnPerInterval) {
  Rotation rotation(7, rotation_start, 10s, true);
  std::map<std::uint32_t, std::vector<MonoTime>> turns;
  while (rotation.next() < rotation_start + 30s) {
    const MonoTime now = rotation.next();
    turns[rotation.take(now).value()].push_back(now);
  }
  ASSERT_EQ(turns.size(), 7U);
  for (const auto& [node, times] : turns) {
    ASSERT_EQ(times.size(), 3U) << node;
    EXPECT_EQ(times[1] - times[0], 10s);
    EXPECT_EQ(times[2] - times[1], 10s);
  }
}

TEST(HollowRotation, LateTurnsAreSkippedAndNotMadeUpFor) {
  Rotation rotation(4, rotation_start, 10s, true);
  EXPECT_EQ(rotation.take(rotation_start), 0U);
  std::vector<std::uint32_t> nodes;
  while (const auto node = rotation.take(rotation_start + 105s)) nodes.push_back(*node);
  EXPECT_EQ(nodes, (std::vector<std::uint32_t>{1, 2})) << "due at 102.5 s and 105 s";
  EXPECT_GT(rotation.next(), rotation_start + 105s);
}

TEST(HollowRotation, WithoutNodesNothingIsDue) {
  Rotation rotation(0, rotation_start, 10s, true);
  EXPECT_EQ(rotation.next(), MonoTime::max());
  EXPECT_FALSE(rotation.take(rotation_start + 1h));
}

}  // namespace
}  // namespace holdfast::agent::hollow
