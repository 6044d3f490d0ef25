// The options of `kubectl logs`.

#include "sync/node/log_options.h"

#include <gtest/gtest.h>

namespace holdfast::sync::node {
namespace {

using namespace std::chrono_literals;

TEST(LogOptions, AreReadFromTheQuery) {
  const struct {
    const char* query;
    LogOptions options;
  } rows[] = {
      {"", {}},
      {"container=c&pretty=true", {}},
      {"follow=true&timestamps=1&previous=false", {.follow = true, .timestamps = true}},
      {"tailLines=5&limitBytes=7&sinceSeconds=9",
       {.since_seconds = 9, .tail_lines = 5, .limit_bytes = 7}},
      {"sinceTime=1970-01-01T00:01:00Z", {.since_time = WallTime(60s)}},
      {"tailLines=-9223372036854775808", {.tail_lines = std::numeric_limits<std::int64_t>::min()}},
  };
  for (const auto& row : rows) {
    const auto read = parse_log_options(*Query::parse(row.query));
    ASSERT_TRUE(read) << row.query;
    EXPECT_EQ(*read, row.options) << row.query;
  }
}

TEST(LogOptions, WhatIsNoNumberOrTimeIsAnError) {
  const struct {
    const char* query;
    const char* error;
  } rows[] = {
      {"tailLines=x", "strconv.ParseInt: parsing \"x\": invalid syntax"},
      {"limitBytes=1.5", "strconv.ParseInt: parsing \"1.5\": invalid syntax"},
      {"sinceSeconds=99999999999999999999",
       "strconv.ParseInt: parsing \"99999999999999999999\": value out of range"},
  };
  for (const auto& row : rows) {
    const auto refused = parse_log_options(*Query::parse(row.query));
    ASSERT_FALSE(refused) << row.query;
    EXPECT_EQ(refused.error().what, row.error);
  }
  EXPECT_FALSE(parse_log_options(*Query::parse("sinceTime=yesterday")));
}

TEST(LogOptions, ImpossibleValuesAreNamed) {
  const struct {
    LogOptions options;
    const char* errors;
  } rows[] = {
      {{.tail_lines = 0, .limit_bytes = 1}, ""},
      {{.tail_lines = -1}, "tailLines: Invalid value: -1: must be greater than or equal to 0"},
      {{.limit_bytes = 0}, "limitBytes: Invalid value: 0: must be greater than 0"},
      {{.since_seconds = 0}, "sinceSeconds: Invalid value: 0: must be greater than 0"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(wire::aggregate(check_log_options(row.options)), row.errors);
  }
  const LogOptions both{.since_seconds = 1, .since_time = WallTime(1s)};
  EXPECT_EQ(check_log_options(both).size(), 1U);
}

TEST(LogOptions, SinceIsATime) {
  const WallTime now(1'000'000s);
  EXPECT_EQ(LogOptions{}.since(now), std::nullopt);
  EXPECT_EQ((LogOptions{.since_seconds = 10}.since(now)), now - 10s);
  EXPECT_EQ((LogOptions{.since_time = WallTime(5s)}.since(now)), WallTime(5s));
  const LogOptions all{.since_seconds = std::numeric_limits<std::int64_t>::max()};
  EXPECT_LT(*all.since(now), WallTime(0s)) << "no overflow";
}

}  // namespace
}  // namespace holdfast::sync::node
