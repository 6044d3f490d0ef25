// How long heartbeats may take on paths of all kinds.

#include "sync/autonomy/path_time.h"

#include <gtest/gtest.h>

#include <vector>

namespace holdfast::sync::autonomy {
namespace {

using namespace std::chrono_literals;

TEST(PathTime, TheLimitIsWhatThePathNeeds) {
  const struct {
    const char* what;
    std::vector<Duration> answers;  // zero: none came in time
    Duration limit;
  } rows[] = {
      {"not measured", {}, 1s},
      {"quick", {5ms, 5ms, 5ms}, 1s},
      {"one timeout", {5ms, 0s}, 1s},
      {"two timeouts", {5ms, 0s, 0s}, 2s},
      {"four timeouts", {5ms, 0s, 0s, 0s, 0s}, 8s},
      {"one timeout, not measured", {0s}, 2s},
      {"two timeouts, not measured", {0s, 0s}, 4s},
      {"no end of timeouts", std::vector<Duration>(100, 0s), 10s},
      {"an answer after timeouts", {0s, 0s, 1s}, 5s},
      {"a round trip to a satellite", {400ms}, 2s},
      {"a steady path", std::vector<Duration>(100, 1500ms), 7500ms},
      {"a slow path", {4s}, 10s},
      {"slower than everything permitted", {60s, 60s}, 10s},
      {"a clock that does not move", {0s, Duration(-1)}, 1s},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    PathTime path(1s);
    for (const Duration took : row.answers) {
      if (took == 0s) {
        path.timed_out();
      } else {
        path.answered(took);
      }
    }
    EXPECT_EQ(path.limit(), row.limit);
    EXPECT_TRUE(path.is_evidence(row.limit));
    EXPECT_FALSE(path.is_evidence(row.limit - 1ms));
  }
}

TEST(PathTime, AnswersAreLateOnceTwoInARowWere) {
  const struct {
    std::vector<Duration> answers;  // zero: none came in time
    bool late;
  } rows[] = {
      {{}, false},
      {{3s}, false},
      {{3s, 3s}, true},
      {{2s, 2s}, true},
      {{1999ms, 1999ms, 1999ms}, false},
      {{3s, 100ms, 3s}, false},
      {{3s, 0s, 3s}, true},
      {{3s, 3s, 3s, 0s}, true},
      {{3s, 3s, 3s, 3s, 1s}, false},
      {{0s, 0s, 0s}, false},
  };
  for (const auto& row : rows) {
    PathTime path(1s, 10s, 2s);
    for (const Duration took : row.answers) {
      if (took == 0s) {
        path.timed_out();
      } else {
        path.answered(took);
      }
    }
    EXPECT_EQ(path.answers_late(), row.late) << &row - rows;
  }
}

TEST(PathTime, TheOnlyServerMayTakeLongerToAnswerForTheFirstTime) {
  EXPECT_EQ(first_answer_limit(1), 10s);
  EXPECT_EQ(first_answer_limit(2), 3s);
  EXPECT_EQ(first_answer_limit(9), 3s);
}

TEST(PathTime, UntilTheFirstAnswerTheLimitIsTheGivenOne) {
  const struct {
    Duration unmeasured;
    Duration limit;
  } rows[] = {{0s, 1s}, {500ms, 1s}, {4s, 4s}, {1h, 10s}};
  for (const auto& row : rows) {
    PathTime path(1s, row.unmeasured);
    EXPECT_EQ(path.limit(), row.limit);
    path.timed_out();
    EXPECT_EQ(path.limit(), std::min(row.limit * 2, Duration(10s)));
    path.answered(5ms);
    EXPECT_EQ(path.limit(), 1s);
  }
}

TEST(PathTime, ItFollowsThePath) {
  PathTime path(1s);
  for (int i = 0; i < 50; ++i) path.answered(10ms);
  path.answered(900ms);
  EXPECT_GT(path.limit(), 1s) << "slower than before";
  for (int i = 0; i < 50; ++i) path.answered(10ms);
  EXPECT_EQ(path.limit(), 1s) << "quick again";
  ASSERT_TRUE(path.smoothed());
  EXPECT_LT(*path.smoothed(), 20ms);
  EXPECT_FALSE(path.is_slow());
  path.answered(900ms);
  EXPECT_TRUE(path.is_slow());
  EXPECT_FALSE(PathTime(1s).is_slow()) << "not measured";
}

TEST(PathTime, APathIsSlowFromFiftyMillisecondsOn) {
  for (const auto& [time, is_slow] : {std::pair{49ms, false}, std::pair{50ms, true}}) {
    PathTime path(1s);
    path.answered(time);
    EXPECT_EQ(path.is_slow(), is_slow);
  }
}

TEST(PathTime, OtherLeastLimitsHaveOtherBounds) {
  const struct {
    Duration least;
    Duration most;
  } rows[] = {{250ms, 2500ms}, {1s, 10s}, {3s, 10s}, {15s, 15s}};
  for (const auto& row : rows) {
    PathTime path(row.least);
    EXPECT_EQ(path.limit(), row.least);
    for (int i = 0; i < 10; ++i) path.timed_out();
    EXPECT_EQ(path.limit(), row.most);
  }
}

TEST(PathTime, AServerIsBusyThatSendsMoreThanAFewEvents) {
  EXPECT_FALSE(is_busy(0));
  EXPECT_FALSE(is_busy(8191));
  EXPECT_TRUE(is_busy(8192));
}

}  // namespace
}  // namespace holdfast::sync::autonomy
