// Profiles and traces of links.

#include "agent/lab/scenario/link_profile.h"

#include <gtest/gtest.h>

#include "test/unit/agent/lab/scenario/scenario_text.h"

namespace holdfast::agent::lab {
namespace {

using namespace std::chrono_literals;

TEST(LinkProfiles, HaveTheFiguresOfTheirSources) {
  struct Line {
    std::string_view name;
    Duration round_trip;
    std::int64_t up;
    std::int64_t down;
  };
  const Line lines[] = {{"ethernet", 24ms, 12'500'000, 12'500'000},
                        {"4g", 53ms, 1'700'000, 1'837'500},
                        {"satellite", 600ms, 375'000, 1'500'000},
                        {"nb-iot", 2400ms, 8'250, 3'250}};
  for (const auto& [name, round_trip, up, down] : lines) {
    const auto profile = named_profile(name);
    ASSERT_TRUE(profile) << name;
    EXPECT_EQ(profile->up.latency + profile->down.latency +
                  (profile->up.jitter + profile->down.jitter) / 2,
              round_trip)
        << name;
    EXPECT_EQ(profile->up.rate, up) << name;
    EXPECT_EQ(profile->down.rate, down) << name;
  }
  EXPECT_EQ(profile_names().size(), std::size(lines));
  EXPECT_FALSE(named_profile("5g"));
}

TEST(LinkTrace, IsRead) {
  const auto points = parse_trace("t.csv",
                                  "# recorded on a bus\r\n"
                                  "at, up_latency_ms,up_loss,up_rate_kbit,down_jitter_ms,cut\r\n"
                                  "0,20,0,1000,0.5,0\r\n"
                                  "\r\n"
                                  "90.5,0,0.25,0,0,false\n"
                                  "2m,0,0,0,0,1");
  ASSERT_TRUE(points) << points.error().what;
  ASSERT_EQ(points->size(), 3U);
  const TracePoint first{.at = 0s,
                         .up = {.latency = 20ms, .rate = 125'000},
                         .down = {.jitter = 500us},
                         .is_cut = false};
  EXPECT_EQ((*points)[0], first);
  EXPECT_EQ((*points)[1].at, 90500ms);
  EXPECT_EQ((*points)[1].up.loss, 0.25);
  EXPECT_EQ((*points)[2].at, 2min);
  EXPECT_TRUE((*points)[2].is_cut);
}

TEST(LinkTrace, EachColumnIsAFieldAndOnlyTheTimeIsRequired) {
  const auto points = parse_trace("t.csv",
                                  "cut,down_rate_kbit,down_loss,down_jitter_ms,down_latency_ms,"
                                  "up_rate_kbit,up_loss,up_jitter_ms,up_latency_ms,at\n"
                                  "1,8,0.5,6,5,4,0.25,2,1,0\n");
  ASSERT_TRUE(points) << points.error().what;
  const TracePoint all{.at = 0s,
                       .up = {.latency = 1ms, .jitter = 2ms, .loss = 0.25, .rate = 500},
                       .down = {.latency = 5ms, .jitter = 6ms, .loss = 0.5, .rate = 1000},
                       .is_cut = true};
  EXPECT_EQ(*points, std::vector<TracePoint>{all});
  const auto plain = parse_trace("t.csv", "at\n0\n");
  ASSERT_TRUE(plain) << plain.error().what;
  EXPECT_EQ(*plain, std::vector<TracePoint>{TracePoint{}});
}

struct BadTrace {
  std::string text;
  std::string error;
};

TEST(LinkTrace, MistakesNameTheLine) {
  const BadTrace all[] = {
      {"", "t.csv: the trace has no points"},
      {"at\n", "t.csv: the trace has no points"},
      {"at,uplatency_ms\n",
       "t.csv:1: unknown column \"uplatency_ms\"; did you mean \"up_latency_ms\"?"},
      {"at,at\n", "t.csv:1: column at stands twice"},
      {"cut\n0\n", "t.csv:1: column at is missing"},
      {"at,cut\n0\n", "t.csv:2: 1 values for 2 columns"},
      {"at,cut\n5,0\n", "t.csv:2: column at: the first time must be 0"},
      {"at,cut\n0,0\n0,1\n", "t.csv:3: column at: not after the line before"},
      {"at,cut\nsoon,0\n", "t.csv:2: column at: not a time like 90 or 1m30s: \"soon\""},
      {"at,cut\n-1,0\n", "t.csv:2: column at: \"-1\" is not within 0 to 3200000000"},
      {"at,cut\n0,maybe\n", "t.csv:2: column cut: expected 0, 1, true or false, not \"maybe\""},
      {"at,up_loss\n0,1\n", "t.csv:2: column up_loss: \"1\" is not a fraction from 0 to below 1"},
      {"at,up_latency_ms\n0,inf\n", "t.csv:2: column up_latency_ms: not a number: \"inf\""},
      {"at,down_rate_kbit\n0,1e12\n",
       "t.csv:2: column down_rate_kbit: \"1e12\" is not within 0 to 1000000000"},
      {"at\n0\n1\n2\n3\n", "t.csv:5: more than 3 points"},
  };
  for (const auto& [text, error] : all) {
    const auto points = parse_trace("t.csv", text, {.points = 3});
    EXPECT_EQ(points ? "" : points.error().what, error) << text;
  }
}

TEST(LinkTrace, BelongsToASite) {
  const std::string text =
      "name: x\nduration: 1h\n"
      "fleet: {sites: [{name: a, link: {trace: bus.csv, repeat: true}}]}\n";
  const auto scenario = parse_text(text, {}, {{"bus.csv", "at,up_latency_ms\n0,7\n10,8\n"}});
  ASSERT_TRUE(scenario) << scenario.error().what;
  const LinkProfile& link = scenario->sites[0].link;
  EXPECT_EQ(link.name, "bus.csv");
  EXPECT_TRUE(link.repeats);
  EXPECT_EQ(link.up.latency, 7ms);
  EXPECT_EQ(link.trace.size(), 2U);
  EXPECT_EQ(error_of(text, {}, {{"bus.csv", "at,up_latency_ms\n0,7\n10\n"}}),
            "s.yaml:3:41: fleet.sites[0].link.trace: bus.csv:3: 1 values for 2 columns");
}

TEST(LinkTrace, PointsOfAllLinksAreLimited) {
  ScenarioLimits limits;
  limits.trace_points = 5;
  EXPECT_EQ(error_of("name: x\nduration: 1h\nfleet:\n  sites:\n"
                     "  - {name: a, link: {trace: t.csv}}\n  - {name: b, link: {trace: t.csv}}\n",
                     {}, {{"t.csv", "at\n0\n1\n2\n"}}, limits),
            "s.yaml:6:29: fleet.sites[1].link.trace: all links together have more than 5 points");
  EXPECT_EQ(error_of(with_base("events: [{at: 1m, degrade: [a, b], link: {trace: t.csv}}]\n"), {},
                     {{"t.csv", "at\n0\n1\n2\n"}}, limits),
            "s.yaml:5:10: events[0]: all links together have more than 5 points");
}

TEST(Link, OneDirectionOverridesBoth) {
  const auto scenario = parse_text(
      "name: x\nduration: 1h\nfleet:\n  sites:\n  - name: a\n"
      "    link: {latency: 30ms, loss: 1%, rate: 2Mbit/s, up: {rate: 256kbit/s, jitter: 5ms}}\n");
  ASSERT_TRUE(scenario) << scenario.error().what;
  const LinkProfile& link = scenario->sites[0].link;
  const LinkQuality up{.latency = 30ms, .jitter = 5ms, .loss = 0.01, .rate = 32'000};
  const LinkQuality down{.latency = 30ms, .jitter = 0ms, .loss = 0.01, .rate = 250'000};
  EXPECT_EQ(link.up, up);
  EXPECT_EQ(link.down, down);
}

}  // namespace
}  // namespace holdfast::agent::lab
