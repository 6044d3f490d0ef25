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
