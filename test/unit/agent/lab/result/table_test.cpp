// The terminal table, completely.

#include "agent/lab/result/table.h"

#include "agent/lab/result/words.h"
#include "platform/text.h"
#include "test/support/fleet_result.h"

namespace holdfast::agent::lab {
namespace {

TEST(ResultWords, AreBrief) {
  const std::pair<Duration, std::string> durations[] = {
      {Duration(), "0s"},
      {std::chrono::milliseconds(300), "300ms"},
      {std::chrono::milliseconds(9500), "9.5s"},
      {std::chrono::minutes(47), "47m"},
      {std::chrono::seconds(5403), "1h30m"},
      {std::chrono::hours(52), "2d4h"},
  };
  for (const auto& [duration, text] : durations) EXPECT_EQ(brief(duration), text);
  EXPECT_EQ(brief_bytes(1023), "1023 B");
  EXPECT_EQ(brief_bytes(1536), "1.5 KiB");
  EXPECT_EQ(brief_bytes(3UL << 20), "3 MiB");
  EXPECT_EQ(clip("a\xC3\xA4", 2), "a...");
}

TEST(ResultTable, BeginsWithTheAnswer) {
  EXPECT_EQ(result_table(test::fleet_result({.nodes_per_site = 2})),
            R"(1 of 2 expectations not met; site-1: 1 evicted; site-2: 1 restart

outage: the uplinks of some sites fail
simulated, seed 7, 2h, 4 nodes in 2 sites, 8 pods, 48210 events

WORKLOAD        SITE  WANTED  EVICTED  RESTARTED  UNAVAILABLE
deployment/web  any        8        1          1        2m35s

NODE      SITE    CUT OFF  NOT READY  TAINTED  EVICTED  RESTARTED
site-1-1  site-1      47m     46m20s   46m20s        1          0
site-1-2  site-1      47m     46m20s       0s        0          0
site-2-1  site-2       2m         0s       0s        0          1
site-2-2  site-2       0s         0s       0s        0          0

REQUESTS  COUNT  PER SECOND    BYTES
lease      2880         0.4  1.1 MiB
taint         4       <0.01  3.5 KiB
total      2884         0.4  1.1 MiB

EVICTIONS PER 1m (most at 15m)
1 |       #
  |       #
  |       #
  |       #
  +------------------------------------------------------------
   0s                                                        2h

EXPECTATIONS
NOT MET  no pod of site-2 restarts
         found: 1 restart: default/web at 1h10m
met      at most 200 requests/s
         found: 20
)");
}

TEST(ResultTable, GroupsManyNodesBySite) {
  EXPECT_EQ(result_table(test::fleet_result({.sites = 30, .nodes_per_site = 250})),
            R"(1 of 2 expectations not met; 19 of 30 sites: 0 restarts; site-1: 125 evicted;
site-2: 125 evicted; site-3: 125 evicted; 8 other sites: 875 evicted and 1
restart

outage: the uplinks of some sites fail
simulated, seed 7, 2h, 7500 nodes in 30 sites, 15000 pods, 48210 events

WORKLOAD        SITE  WANTED  EVICTED  RESTARTED  UNAVAILABLE
deployment/web  any    15000     1250          1       10h27m

SITE     NODES  CUT OFF  NOT READY  TAINTED  EVICTED  RESTARTED
site-1     250      250        250      125      125          0
site-2     250      250        250      125      125          0
site-3     250      250        250      125      125          0
site-4     250      250        250      125      125          0
site-5     250      250        250      125      125          0
site-6     250      250        250      125      125          0
site-7     250      250        250      125      125          0
site-8     250      250        250      125      125          0
site-9     250      250        250      125      125          0
site-10    250      250        250      125      125          0
site-30    250        1          0        0        0          1
site-11    250        0          0        0        0          0
site-12    250        0          0        0        0          0
site-13    250        0          0        0        0          0
site-14    250        0          0        0        0          0
site-15    250        0          0        0        0          0
site-16    250        0          0        0        0          0
site-17    250        0          0        0        0          0
site-18    250        0          0        0        0          0
site-19    250        0          0        0        0          0
and 10 sites to which less happened

REQUESTS    COUNT  PER SECOND    BYTES
lease     5400000         750    2 GiB
taint        7500        1.04  6.4 MiB
total     5407500         751    2 GiB

EVICTIONS PER 1m (most at 15m)
1250 |       #
     |       #
     |       #
     |       #
     +------------------------------------------------------------
      0s                                                        2h

EXPECTATIONS
NOT MET  no pod of site-2 restarts
         found: 1 restart: default/web at 1h10m
met      at most 200 requests/s
         found: 20
)");
}

TEST(ResultTable, EscapesNamesAndShowsAViolation) {
  RunResult result{.scenario = "a\x1b[31m", .mode = "run", .duration = std::chrono::seconds(61)};
  result.nodes = {{.name = "n\r", .site = std::string(300, 's')}};
  result.violation =
      Violation{std::chrono::seconds(60), "once", "two\n of a", {"1m0s a", "1m0s b"}};
  EXPECT_EQ(result_table(result), R"(violated after 1m: once;
ssssssssssssssssssssssssssssssssssssssssssssssssssssssssssss...: 0 restarts

a\x1b[31m
real processes, 1m1s, 1 node in 1 site, 0 pods

NODE  SITE                       CUT OFF  NOT READY  TAINTED  EVICTED  RESTARTED
n\r   ssssssssssssssssssssssss~       0s         0s       0s        0          0

VIOLATION after 1m
  once: two\n of a
last events:
  1m0s a
  1m0s b
)");
}

TEST(ResultTable, IsAtMost80ColumnsWide) {
  for (const int sites : {1, 2, 7, 400}) {
    RunResult result = test::fleet_result({.sites = sites, .nodes_per_site = 10});
    for (auto& workload : result.workloads) workload.name = std::string(200, 'w');
    const std::string text = result_table(result);
    for (const auto line : split(text, '\n')) EXPECT_LE(characters(line), 80U) << line;
  }
}

TEST(ResultTable, HasColoursOnlyIfTold) {
  const RunResult result = test::fleet_result({});
  EXPECT_EQ(result_table(result).find('\x1b'), std::string::npos);
  EXPECT_NE(result_table(result, {.has_colour = true}).find("\x1b[31mNOT MET"), std::string::npos);
}

TEST(ResultTable, OfNothingIsShort) {
  EXPECT_EQ(result_table(RunResult()), R"(no nodes took part

0s, 0 nodes in 0 sites, 0 pods
)");
}

}  // namespace
}  // namespace holdfast::agent::lab
