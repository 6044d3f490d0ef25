// The reflector's watches: events, how a watch ends, and where it resumes.

#include "test/unit/sync/watch/reflector_script.h"

namespace holdfast::sync::watch::scripts {
namespace {

const std::vector<Script> watches = {
    {"events are applied and the place is kept",
     {
         {0s, Started{"10"}, {"watch rv=10 for 469"}},
         {1s, WatchOpened{}, {}},
         {2s, event(added, "a", "11"), {"ADDED a rv=11"}},
         {3s, event(modified, "a", "12"), {"MODIFIED a rv=12"}},
         {4s, event(bookmark, "{}", "20"), {"bookmark rv=20"}},
         {5s, event(deleted, "a", "21"), {"DELETED a rv=21"}},
         {9min, WatchEnded{}, {"watch rv=21 for 523"}},
     }},
    {"a watch without events that ended in time goes on at once",
     {
         {0s, Started{"10"}, {"watch rv=10 for 469"}},
         {1s, WatchOpened{}, {}},
         {6min, WatchEnded{}, {"watch rv=10 for 523"}},
     }},
    {"refused, busy or unavailable: the watch again, later; no list",
     {
         {0s, Started{"10"}, {"watch rv=10 for 469"}},
         {1s, WatchFailed{failure_of(refused)}, {"wait until 1.269872027s"}},
         {10s, TimePassed{}, {"watch rv=10 for 591"}},
         {11s, watch_failed(wire::status::too_many_requests("busy", 9)), {"wait until 20s"}},
         {19s, TimePassed{}, {}},
         {20s, TimePassed{}, {"watch rv=10 for 433"}},
         {21s,
          watch_failed(wire::status::service_unavailable("down")),
          {"wait until 22.666743299s"}},
         {40s, TimePassed{}, {"watch rv=10 for 563"}},
     }},
    {"a watch that broke goes on where it was",
     {
         {0s, Started{"10"}, {"watch rv=10 for 469"}},
         {1s, WatchOpened{}, {}},
         {2s, event(added, "a", "11"), {"ADDED a rv=11"}},
         {3s,
          WatchFailed{failure_of(Error{Errc::unavailable, "reset"})},
          {"wait until 3.269872027s"}},
         {10s, TimePassed{}, {"watch rv=11 for 591"}},
     }},
    {"an expired version: list again from what was seen",
     {
         {0s, Started{"10"}, {"watch rv=10 for 469"}},
         {1s, WatchOpened{}, {}},
         {2s, event(added, "a", "11"), {"ADDED a rv=11"}},
         {3s, error_event(expired), {"close", "wait until 3.269872027s"}},
         {10s, TimePassed{}, {"list rv=11 limit=0 continue="}},
         {11s, page({"a"}, "15"), {"replace rv=15: a", "watch rv=15 for 591"}},
     }},
    {"an error in the stream: later again, or list, as for an answer",
     {
         {0s, Started{"10"}, {"watch rv=10 for 469"}},
         {1s, WatchOpened{}, {}},
         {2s,
          error_event(wire::status::too_many_requests("slow down", 1)),
          {"close", "wait until 3s"}},
         {3s, TimePassed{}, {"watch rv=10 for 591"}},
         {4s, WatchOpened{}, {}},
         {5s,
          error_event(wire::status::unexplained("bad version")),
          {"close", "warn: watch: 500 bad version", "wait until 6.498667268s"}},
         {10s, TimePassed{}, {"list rv=10 limit=0 continue="}},
     }},
    {"an error that is no Status: list",
     {
         {0s, Started{"10"}, {"watch rv=10 for 469"}},
         {1s, WatchOpened{}, {}},
         {2s,
          EventReceived{{wire::WatchEvent::Type::error, "{}", ""}},
          {"close", "warn: watch: not a Status: kind \"\"", "wait until 2.269872027s"}},
         {10s, TimePassed{}, {"list rv=10 limit=0 continue="}},
     }},
    {"bytes that make no sense: list",
     {
         {0s, Started{"10"}, {"watch rv=10 for 469"}},
         {1s, WatchOpened{}, {}},
         {2s,
          WatchFailed{failure_of(Error{Errc::corrupt, "no JSON"})},
          {"warn: watch: no JSON", "wait until 2.269872027s"}},
         {10s, TimePassed{}, {"list rv=10 limit=0 continue="}},
     }},
    {"forbidden: a list will say so",
     {
         {0s, Started{"10"}, {"watch rv=10 for 469"}},
         {1s,
          watch_failed(wire::status::unauthorized()),
          {"warn: watch: 401 Unauthorized", "wait until 1.269872027s"}},
         {10s, TimePassed{}, {"list rv=10 limit=0 continue="}},
     }},
    {"a very short watch is suspicious and not repeated at once",
     {
         {0s, Started{"10"}, {"watch rv=10 for 469"}},
         {500ms, WatchOpened{}, {}},
         {900ms,
          WatchEnded{},
          {"warn: very short watch: closed without an event", "wait until 1.169872027s"}},
         {10s, TimePassed{}, {"watch rv=10 for 591"}},
         {10s, WatchOpened{}, {}},
         {10s, event(bookmark, "{}", "11"), {"bookmark rv=11"}},
         {10900ms, WatchEnded{}, {"wait until 12.398667268s"}},
     }},
    {"a watch that outlives its timeout is dead",
     {
         {0s, Started{"10"}, {"watch rv=10 for 469"}},
         {1s, WatchOpened{}, {}},
         {5min, TimePassed{}, {}},
         {11min,
          TimePassed{},
          {"close", "warn: a watch outlived its timeout", "wait until 11m0.269872027s"}},
         {12min, TimePassed{}, {"watch rv=10 for 591"}},
     }},
};

TEST(Reflector, Watches) { replay(watches); }

TEST(Reflector, WatchesThatBringNothingOneAfterTheOtherHaveStalled) {
  const Failure broke = failure_of(Error{Errc::unavailable, "reset"});
  const Failure late = failure_of(Error{Errc::timeout, "no answer"});
  const Failure busy = failure_of(wire::status::too_many_requests("busy", 0));
  const Failure down = failure_of(wire::status::service_unavailable("down"));
  struct Row {
    const char* what;
    std::optional<Failure> failure;  // nothing: the server ends the watch
    bool opens = false;
    Duration open_for = {};
    bool in_event = false;
    bool has_event = false;
    std::string_view then;  // what follows in the end: "list", "watch", or "" if it never stalls
  };
  const Row rows[] = {
      {"opened and broken off", broke, true, 0s, false, false, "list"},
      {"opened and ended", std::nullopt, true, 0s, false, false, "list"},
      {"always broken in its first event", broke, true, 20s, true, false, "list"},
      {"answered 503", down, false, 0s, false, false, "list"},
      {"answered 429, which a list would make worse", busy, false, 0s, false, false, "watch"},
      {"not answered in time", late, false, 0s, false, false, "list"},
      {"without a server, which the link notices", failure_of(refused), false, 0s, false, false,
       ""},
      {"broken off after an event", broke, true, 0s, false, true, ""},
      {"broken off while nothing happens", broke, true, 1s, false, false, ""},
      {"broken in its second event", broke, true, 20s, true, true, ""},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    Random random(1);
    Reflector reflector({.list_backoff = pacing::BackoffConfig{.initial = 1s}}, random);
    MonoTime now = start;
    Actions actions = reflector.step(now, Started{"10"});
    int watches = 0;
    MonoTime first_failed = MonoTime::max();
    std::optional<Failure> stalled;
    while (!stalled && watches < 100) {
      ASSERT_TRUE(std::holds_alternative<OpenWatch>(actions.back()));
      ++watches;
      if (row.opens) (void)reflector.step(now, WatchOpened{});
      if (row.has_event) (void)reflector.step(now, event(added, "a", "11"));
      now += row.open_for;
      first_failed = std::min(first_failed, now);
      actions = row.failure ? reflector.step(now, WatchFailed{*row.failure, row.in_event})
                            : reflector.step(now, WatchEnded{});
      for (const Action& action : actions) {
        if (const auto* stall = std::get_if<ReportStall>(&action)) stalled = stall->failure;
      }
      if (stalled) break;
      now = reflector.deadline();
      actions = reflector.step(now, TimePassed{});
    }
    EXPECT_EQ(stalled.has_value(), !row.then.empty());
    if (!stalled) continue;
    EXPECT_GE(watches, 5);
    EXPECT_LE(watches, 20);
    EXPECT_GE(now - first_failed, 30s);
    EXPECT_LE(now - first_failed, 200s);
    EXPECT_EQ(stalled->what,
              "one watch after the other brings nothing: " +
                  (row.failure ? row.failure->what : "very short watch: closed without an event"));
    now = reflector.deadline();
    actions = reflector.step(now, TimePassed{});
    ASSERT_EQ(actions.size(), 1u);
    EXPECT_EQ(std::holds_alternative<SendList>(actions[0]) ? "list" : "watch", row.then);
    if (row.then == "watch") continue;
    // It was counted anew: the next watch may fail.
    (void)reflector.step(now, page({}, "12"));
    actions = reflector.step(now, WatchFailed{down});
    ASSERT_EQ(actions.size(), 1u);
    actions = reflector.step(reflector.deadline(), TimePassed{});
    EXPECT_TRUE(std::holds_alternative<OpenWatch>(actions.at(0)));
  }
}

TEST(Reflector, AVeryShortWatchOfAFarServerIsNotRepeatedAtOnce) {
  Random random(1);
  Reflector reflector({}, random);
  (void)reflector.step(start, Started{"10"});
  (void)reflector.step(start + 3s, WatchOpened{});  // The answer takes three seconds.
  (void)reflector.step(start + 3s, WatchEnded{});
  EXPECT_EQ(reflector.state(), Reflector::State::waiting);
}

TEST(Reflector, DeadlinesAndState) {
  Random random(1);
  Reflector reflector({}, random);
  EXPECT_EQ(reflector.state(), Reflector::State::idle);
  EXPECT_EQ(reflector.deadline(), MonoTime::max());
  (void)reflector.step(start, Started{});
  EXPECT_EQ(reflector.state(), Reflector::State::listing);
  EXPECT_EQ(reflector.deadline(), MonoTime::max());
  EXPECT_EQ(reflector.resource_version(), "");
  const auto actions = reflector.step(start, page({}, "5"));
  EXPECT_EQ(reflector.state(), Reflector::State::opening);
  EXPECT_EQ(reflector.resource_version(), "5");
  const auto timeout = std::chrono::seconds(std::get<OpenWatch>(actions[1]).timeout_seconds);
  EXPECT_GE(timeout, 5min);
  EXPECT_LT(timeout, 10min);
  EXPECT_EQ(reflector.deadline(), start + timeout + 30s);
  (void)reflector.step(start, WatchOpened{});
  EXPECT_EQ(reflector.state(), Reflector::State::watching);
  (void)reflector.step(start + 2s, WatchFailed{failure_of(refused)});
  EXPECT_EQ(reflector.state(), Reflector::State::waiting);
  EXPECT_GE(reflector.deadline(), start + 2s);
  EXPECT_LE(reflector.deadline(), start + 2800ms);
}

TEST(ReflectorDeathTest, AnInputOutOfPlaceStopsTheProcess) {
  Random random(1);
  Reflector reflector({}, random);
  EXPECT_DEATH((void)reflector.step(start, WatchOpened{}), "CHECK");
}

}  // namespace
}  // namespace holdfast::sync::watch::scripts
