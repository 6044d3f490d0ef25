// The reflector's lists: pages, restarts and limits.

#include "test/unit/sync/watch/reflector_script.h"

namespace holdfast::sync::watch::scripts {
namespace {

const ListFailed too_much{failure_of(Error{Errc::corrupt, "the answer was broken off"}), true};
const ListFailed above_limit{failure_of(Error{Errc::exhausted, "above the limit"}), true};

const std::vector<Script> lists = {
    {"one page, then a watch from there",
     {
         {0s, Started{}, {"list rv=0 limit=500 continue="}},
         {1s, page({"a", "b"}, "10"), {"replace rv=10: a b", "watch rv=10 for 469"}},
     }},
    {"pages arrive as a whole, with the version of the first",
     {
         {0s, Started{}, {"list rv=0 limit=500 continue="}},
         {1s, page({"a"}, "10", "t1"), {"list rv= limit=500 continue=t1"}},
         {2s, page({"b"}, "10", "t2"), {"list rv= limit=500 continue=t2"}},
         {3s, page({}, "10"), {"replace rv=10: a b", "watch rv=10 for 469"}},
     }},
    {"an empty list is a list",
     {
         {0s, Started{}, {"list rv=0 limit=500 continue="}},
         {1s, page({}, "7"), {"replace rv=7:", "watch rv=7 for 469"}},
     }},
    {"the newest state when configured so",
     {
         {0s, Started{}, {"list rv= limit=2 continue="}},
         {1s, page({"a"}, "10", "t"), {"list rv= limit=2 continue=t"}},
     },
     {.first_list_version = "", .page_size = 2}},
    {"a page that expired: everything at once, nothing of the old pages",
     {
         {0s, Started{}, {"list rv=0 limit=500 continue="}},
         {1s, page({"old"}, "10", "t"), {"list rv= limit=500 continue=t"}},
         {2s, list_failed(expired), {"list rv= limit=0 continue="}},
         {3s, page({"new"}, "20"), {"replace rv=20: new", "watch rv=20 for 469"}},
     }},
    {"a page that failed: from the start, after a while, nothing of the old pages",
     {
         {0s, Started{}, {"list rv=0 limit=500 continue="}},
         {1s, page({"old"}, "10", "t"), {"list rv= limit=500 continue=t"}},
         {2s, ListFailed{failure_of(refused)}, {"wait until 2.536802008s"}},
         {2s, TimePassed{}, {}},
         {10s, TimePassed{}, {"list rv=0 limit=500 continue="}},
         {11s, page({"new"}, "12"), {"replace rv=12: new", "watch rv=12 for 523"}},
     }},
    {"a server that pages even version 0 is asked for pages always",
     {
         {0s, Started{}, {"list rv=0 limit=500 continue="}},
         {1s, page({"a"}, "10", "t"), {"list rv= limit=500 continue=t"}},
         {2s, page({"b"}, "10"), {"replace rv=10: a b", "watch rv=10 for 469"}},
         {3s, watch_failed(expired), {"wait until 3.269872027s"}},
         {10s, TimePassed{}, {"list rv=10 or newer limit=500 continue="}},
     }},
    {"waits grow, and the server's own wish is a minimum",
     {
         {0s, Started{}, {"list rv=0 limit=500 continue="}},
         {1s, ListFailed{failure_of(refused)}, {"wait until 1.536802008s"}},
         {10s, TimePassed{}, {"list rv=0 limit=500 continue="}},
         {11s, list_failed(wire::status::unauthorized()), {"wait until 11.868150268s"}},
         {20s, TimePassed{}, {"list rv=0 limit=500 continue="}},
         {21s, list_failed(wire::status::too_many_requests("busy", 7)), {"wait until 28s"}},
     }},
    {"a version that the server lost or never had: the newest",
     {
         {0s, Started{"10"}, {"watch rv=10 for 469"}},
         {1s, watch_failed(expired), {"wait until 1.269872027s"}},
         {5s, TimePassed{}, {"list rv=10 limit=0 continue="}},
         {6s,
          list_failed(wire::status::too_large_resource_version(10, 5)),
          {"list rv= limit=500 continue="}},
         {7s, page({"a"}, "5"), {"replace rv=5: a", "watch rv=5 for 591"}},
         {8s, watch_failed(expired), {"wait until 9.498667268s"}},
         {20s, TimePassed{}, {"list rv=5 limit=0 continue="}},
         {21s, list_failed(expired), {"list rv= limit=500 continue="}},
         {22s, list_failed(expired), {"wait until 24.565957126s"}},
     }},
    {"a server that pages everything and forgets its pages is not asked without a pause",
     {
         {0s, Started{}, {"list rv=0 limit=500 continue="}},
         {1s, page({"a"}, "10", "t"), {"list rv= limit=500 continue=t"}},
         {2s, list_failed(expired), {"list rv= limit=0 continue="}},
         {3s, page({"a"}, "11", "u"), {"list rv= limit=500 continue=u"}},
         {4s, list_failed(expired), {"wait until 4.536802008s"}},
         {5s, TimePassed{}, {"list rv=0 limit=500 continue="}},
         {6s, page({"a"}, "12", "v"), {"list rv= limit=500 continue=v"}},
         {7s, list_failed(expired), {"list rv= limit=0 continue="}},
     }},
    {"too much at once is refused",
     {
         {0s, Started{}, {"list rv=0 limit=500 continue="}},
         {1s, page({"123456"}, "10", "t"), {"list rv= limit=500 continue=t"}},
         {2s,
          page({"12345"}, "10"),
          {"warn: a list of more than 10 bytes", "wait until 2.536802008s"}},
         {10s, TimePassed{}, {"list rv=0 limit=500 continue="}},
     },
     {.list_bytes = 10}},
    {"pages that cannot be received: smaller ones, and larger ones again with each complete list",
     {
         {0s, Started{}, {"list rv=0 limit=500 continue="}},
         {1s, too_much, {"wait until 1.536802008s"}},
         {10s, TimePassed{}, {"list rv= limit=125 continue="}},
         {11s, too_much, {"wait until 11.868150268s"}},
         {20s, TimePassed{}, {"list rv= limit=31 continue="}},
         {21s, page({"a"}, "10", "t"), {"list rv= limit=31 continue=t"}},
         {22s, page({"b"}, "10"), {"replace rv=10: a b", "watch rv=10 for 591"}},
         {30s, watch_failed(expired), {"wait until 32.460223751s"}},
         {40s, TimePassed{}, {"list rv=10 or newer limit=62 continue="}},
         {41s, page({"a"}, "20"), {"replace rv=20: a", "watch rv=20 for 433"}},
         {50s, watch_failed(expired), {"wait until 50.665636673s"}},
         {60s, TimePassed{}, {"list rv=20 or newer limit=124 continue="}},
     }},
    {"not everything at once where that cannot be received",
     {
         {0s, Started{"10"}, {"watch rv=10 for 469"}},
         {1s, watch_failed(expired), {"wait until 1.269872027s"}},
         {5s, TimePassed{}, {"list rv=10 limit=0 continue="}},
         {6s, too_much, {"wait until 6.687991041s"}},
         {10s, TimePassed{}, {"list rv=10 or newer limit=125 continue="}},
         {11s, page({"a"}, "20", "t"), {"list rv= limit=125 continue=t"}},
         {12s, list_failed(expired), {"wait until 14.460223751s"}},
         {20s, TimePassed{}, {"list rv=10 or newer limit=250 continue="}},
         {21s, page({"a"}, "20"), {"replace rv=20: a", "watch rv=20 for 433"}},
         {30s, watch_failed(expired), {"wait until 30.665636673s"}},
         {40s, TimePassed{}, {"list rv=20 limit=0 continue="}},
     }},
    {"one object is the smallest page",
     {
         {0s, Started{}, {"list rv= limit=2 continue="}},
         {1s, too_much, {"wait until 1.536802008s"}},
         {10s, TimePassed{}, {"list rv= limit=1 continue="}},
         {11s, too_much, {"wait until 11.868150268s"}},
         {20s, TimePassed{}, {"list rv= limit=1 continue="}},
     },
     {.first_list_version = "", .page_size = 2}},
    {"pages above a limit of the owner: smaller ones at once, and the pages so far remain",
     {
         {0s, Started{}, {"list rv=0 limit=500 continue="}},
         {1s, above_limit, {"list rv= limit=125 continue="}},
         {2s, page({"a"}, "10", "t"), {"list rv= limit=125 continue=t"}},
         {3s, above_limit, {"list rv= limit=31 continue=t"}},
         {4s, page({"b"}, "10", "u"), {"list rv= limit=31 continue=u"}},
         {5s, page({"c"}, "10"), {"replace rv=10: a b c", "watch rv=10 for 469"}},
     }},
    {"one after the other above a limit: with a pause",
     {
         {0s, Started{}, {"list rv=0 limit=500 continue="}},
         {1s, above_limit, {"list rv= limit=125 continue="}},
         {2s, above_limit, {"wait until 2.536802008s"}},
         {10s, TimePassed{}, {"list rv= limit=31 continue="}},
         {11s, above_limit, {"wait until 11.868150268s"}},
         {20s, TimePassed{}, {"list rv= limit=7 continue="}},
         {21s, page({"a"}, "10", "t"), {"list rv= limit=7 continue=t"}},
         {22s, above_limit, {"list rv= limit=1 continue=t"}},
     }},
    {"a list that is too large as a whole is not asked for in smaller pages",
     {
         {0s, Started{}, {"list rv=0 limit=500 continue="}},
         {1s,
          ListFailed{{.code = Errc::exhausted, .list_too_large = true}, true},
          {"wait until 1.536802008s"}},
     }},
    {"pages that fit a number of bytes",
     {
         {0s, Started{}, {"list rv= limit=2 continue="}},
         {1s, page({"12", "34"}, "10", "t"), {"first page: 12 34", "list rv= limit=8 continue=t"}},
         {2s, page({"1234567890"}, "10", "u"), {"page: 1234567890", "list rv= limit=2 continue=u"}},
         {3s, page({}, "10", "v"), {"page:", "list rv= limit=2 continue=v"}},
         {4s,
          page({std::string(30, 'x')}, "10", "w"),
          {"page: " + std::string(30, 'x'), "list rv= limit=1 continue=w"}},
         {5s, page({"a"}, "10", "x"), {"page: a", "list rv= limit=4 continue=x"}},
         {6s, page({"a"}, "10", "y"), {"page: a", "list rv= limit=10 continue=y"}},
         {7s, page({"a"}, "10"), {"page: a", "end rv=10", "watch rv=10 for 469"}},
         {8s, watch_failed(expired), {"wait until 8.269872027s"}},
         {10s, TimePassed{}, {"list rv=10 or newer limit=10 continue="}},
     },
     {.first_list_version = "",
      .page_size = 10,
      .page_bytes = 20,
      .first_page = 2,
      .by_page = true}},
    {"by page: each page at once, and never everything in one answer",
     {
         {0s, Started{}, {"list rv= limit=2 continue="}},
         {1s, page({"a", "b"}, "10", "t"), {"first page: a b", "list rv= limit=2 continue=t"}},
         {2s, page({"c"}, "10"), {"page: c", "end rv=10", "watch rv=10 for 469"}},
         {3s, watch_failed(expired), {"wait until 3.269872027s"}},
         {10s, TimePassed{}, {"list rv=10 or newer limit=2 continue="}},
         {11s, page({"a"}, "20", "t"), {"first page: a", "list rv= limit=2 continue=t"}},
         {12s, list_failed(expired), {"wait until 12.687991041s"}},
         {20s, TimePassed{}, {"list rv=10 or newer limit=2 continue="}},
     },
     {.first_list_version = "", .page_size = 2, .by_page = true}},
    {"by page: pages without end are too much, too",
     {
         {0s, Started{}, {"list rv=0 limit=500 continue="}},
         {1s, page({"123456"}, "10", "t"), {"first page: 123456", "list rv= limit=500 continue=t"}},
         {2s,
          page({"12345"}, "10", "t"),
          {"warn: a list of more than 10 bytes", "wait until 2.536802008s"}},
     },
     {.list_bytes = 10, .by_page = true}},
};

TEST(Reflector, Lists) { replay(lists); }

TEST(Reflector, AListThatKeepsFailingIsAskedForLessAndLessAndAWatchIsNot) {
  Random random(1);
  const pacing::BackoffConfig rare{.initial = 1s, .most = 5min, .reset_after = 10min};
  Reflector reflector({.list_backoff = rare, .refused_pause = 10s}, random);
  MonoTime now = start;
  (void)reflector.step(now, Started{});
  int lists = 1;
  const auto fail_until = [&](MonoTime end, const Failure& failure) {
    while (now < end) {
      (void)reflector.step(now, ListFailed{failure});
      EXPECT_GE(reflector.deadline() - now, is_refusal(failure) ? Duration(10s) : Duration{});
      now = reflector.deadline();
      (void)reflector.step(now, TimePassed{});
      ++lists;
    }
  };
  const Failure forbidden{.http_status = 403, .code = Errc::denied};
  fail_until(start + 1h, forbidden);
  EXPECT_LE(lists, 60) << "in the end every two minutes, and never in a busy loop";
  EXPECT_GE(lists, 10);
  EXPECT_EQ(reflector.state(), Reflector::State::listing);

  // After a successful list, a watch that breaks is reopened soon.
  (void)reflector.step(now, page({}, "10"));
  (void)reflector.step(now, WatchOpened{});
  now += 1min;
  (void)reflector.step(now, WatchFailed{failure_of(refused)});
  EXPECT_LE(reflector.deadline() - now, 800ms);
}

TEST(Reflector, ARefusalOfWhatWasGrantedIsTriedAgainSoonerAtFirst) {
  struct Row {
    const char* what;
    bool resumed;  // a complete cache was there before
    bool watched;  // a watch was granted
    std::vector<Duration> pauses;
  };
  const Row rows[] = {
      {"never granted", false, false, {30min, 30min}},
      {"granted in this run", false, true, {30s, 1min, 2min, 4min, 8min, 16min, 30min, 30min}},
      {"granted in an earlier run", true, false, {30s, 1min, 2min, 4min, 8min, 16min, 30min}},
  };
  const Failure forbidden{.http_status = 403, .code = Errc::denied};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    Random random(1);
    const pacing::BackoffConfig none{.initial = 1ms, .most = 1ms};
    Reflector reflector({.list_backoff = none, .refused_pause = 30min}, random);
    MonoTime now = start;
    (void)reflector.step(now, Started{row.resumed ? "10" : ""});
    if (!row.resumed) {
      (void)reflector.step(now, page({}, "10"));
      if (row.watched) (void)reflector.step(now, WatchOpened{});
    }
    (void)reflector.step(now, WatchFailed{forbidden});
    for (const Duration pause : row.pauses) {
      EXPECT_EQ(reflector.deadline() - now, pause);
      now = reflector.deadline();
      (void)reflector.step(now, TimePassed{});
      // A list alone is not enough: some may list and not watch.
      (void)reflector.step(now, page({}, "10"));
      (void)reflector.step(now, WatchFailed{forbidden});
    }
    // A watch that is granted begins anew.
    now = reflector.deadline();
    (void)reflector.step(now, TimePassed{});
    (void)reflector.step(now, page({}, "10"));
    (void)reflector.step(now, WatchOpened{});
    (void)reflector.step(now, WatchFailed{forbidden});
    EXPECT_EQ(reflector.deadline() - now, 30s);
  }
}

TEST(Reflector, AListThatIsTooLargeIsReadLessAndLess) {
  const Duration pauses[] = {1min, 2min, 4min, 8min, 16min, 32min, 64min, 128min, 256min, 6h, 6h};
  const Failure too_large{.code = Errc::exhausted, .list_too_large = true};
  Random random(1);
  Reflector reflector({.list_backoff = pacing::BackoffConfig{.initial = 1s, .most = 5min},
                       .too_large = {.first = 1min}},
                      random);
  MonoTime now = start;
  (void)reflector.step(now, Started{});
  const auto expect_pause = [&](Duration pause) {
    // The other backoff has five minutes at most.
    EXPECT_GE(reflector.deadline() - now, pause);
    EXPECT_LE(reflector.deadline() - now, std::max<Duration>(pause * 5 / 4, 5min));
    now = reflector.deadline();
    EXPECT_EQ(reflector.step(now, TimePassed{}).size(), 1u);
    EXPECT_EQ(reflector.state(), Reflector::State::listing);
  };
  for (const Duration pause : pauses) {
    (void)reflector.step(now, ListFailed{too_large});
    expect_pause(pause);
  }
  // A list that was received and a watch that was refused for want of room is no success.
  (void)reflector.step(now, page({}, "10"));
  (void)reflector.step(now, WatchFailed{too_large});
  expect_pause(6h);
  (void)reflector.step(now, page({}, "10"));
  (void)reflector.step(now, WatchOpened{});
  (void)reflector.step(now, WatchFailed{too_large});
  expect_pause(1min);
}

TEST(Reflector, AListThatWasTooLargeBeforeIsNotSentBeforeItIsDue) {
  const ReflectorConfig config{.list_backoff = pacing::BackoffConfig{.initial = 1ms, .most = 1ms},
                               .too_large = {.first = 1min, .before = 3}};
  Random random(1);
  Reflector later(config, random);
  EXPECT_EQ(later.step(start, Started{"", start + 7min}),
            (reflect::Actions{reflect::WaitUntil{start + 7min}}));
  EXPECT_EQ(later.step(start + 7min, TimePassed{}),
            (reflect::Actions{reflect::SendList{"0", 500, ""}}));
  (void)later.step(start + 7min, ListFailed{{.code = Errc::exhausted, .list_too_large = true}});
  EXPECT_GE(later.deadline(), start + 7min + 8min) << "the fourth in a row";
  Reflector now(config, random);
  EXPECT_EQ(now.step(start, Started{"", start}),
            (reflect::Actions{reflect::SendList{"0", 500, ""}}));
  Reflector resumed(config, random);
  (void)resumed.step(start, Started{"10", start + 7min});
  EXPECT_EQ(resumed.state(), Reflector::State::opening) << "a watch needs no list";
}

TEST(Reflector, ARetryAfterHasALimit) {
  for (const auto& [asked, taken] : {std::pair{7, 7s}, std::pair{3600, 60s}, std::pair{-5, 0s}}) {
    const wire::ApiStatus busy = wire::status::too_many_requests("busy", asked);
    EXPECT_EQ(failure_of(busy).retry_after, Duration(taken)) << asked;
  }
}

TEST(Reflector, ARefusalIsTheServersDecision) {
  const std::pair<int, bool> cases[] = {{400, true},  {401, true},  {403, true},
                                        {404, true},  {408, false}, {410, false},
                                        {429, false}, {500, false}, {0, false}};
  for (const auto& [status, refusal] : cases) {
    EXPECT_EQ(is_refusal({.http_status = status}), refusal) << status;
  }
}

}  // namespace
}  // namespace holdfast::sync::watch::scripts
