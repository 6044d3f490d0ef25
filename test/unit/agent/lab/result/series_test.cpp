// Series: the interval in which they count, their peak, and how they are shortened.

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "agent/lab/result/summary.h"

namespace holdfast::agent::lab {
namespace {

using namespace std::chrono_literals;

TEST(ResultSeries, AreCountedInAnIntervalThatFitsTheLengthOfTheRun) {
  const std::pair<Duration, Duration> rows[] = {
      {0s, 1s},    {1s, 1s},        {10min, 1s},   {10min + 1ms, 5s},
      {50min, 5s}, {51min, 10s},    {100min, 10s}, {100min + 1ms, 30s},
      {5h, 30s},   {5h + 1ms, 60s}, {10h, 60s},    {8760h, 60s},
  };
  for (const auto& [length, interval] : rows) {
    EXPECT_EQ(counting_interval(length), interval) << length / 1ms << " ms";
  }
}

TEST(ResultSeries, HaveTheirPeakWhereTheyAreHighestFirst) {
  struct Row {
    std::vector<double> values;
    Duration at;
    double value;
  };
  const Row rows[] = {{{}, 0s, 0}, {{0, 0}, 0s, 0}, {{1, 3, 2, 3}, 5s, 3}, {{0, 0, 7}, 10s, 7}};
  for (const Row& row : rows) {
    const Peak peak = peak_of({"s", 5s, row.values});
    EXPECT_EQ(peak.at, row.at);
    EXPECT_EQ(peak.value, row.value);
  }
}

TEST(ResultSeries, KeepTheirPeaksWhenTheyAreShortened) {
  struct Row {
    std::size_t count;
    Duration interval;
    std::vector<double> values;
  };
  const std::vector<double> values = {1, 9, 2, 3, 8, 4, 5};
  const Row rows[] = {{100, 1s, values},  {7, 1s, values}, {6, 2s, {9, 3, 8, 5}},
                      {3, 3s, {9, 8, 5}}, {2, 4s, {9, 8}}, {1, 7s, {9}}};
  for (const Row& row : rows) {
    const Series made = shortened({"s", 1s, values}, row.count);
    EXPECT_EQ(made.name, "s");
    EXPECT_EQ(made.interval, row.interval) << row.count;
    EXPECT_EQ(made.values, row.values) << row.count;
  }
}

}  // namespace
}  // namespace holdfast::agent::lab
