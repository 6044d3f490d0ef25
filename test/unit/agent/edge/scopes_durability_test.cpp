// What a power cut leaves of the cache, how many fsyncs that costs, and when watchers are told.

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <random>

#include "agent/edge/answers/watch_stream.h"
#include "test/support/fault_vfs.h"
#include "test/support/virtual_time.h"
#include "test/unit/agent/edge/cache_run.h"
#include "test/unit/agent/edge/uplink/uplink_fixture.h"

namespace holdfast::agent::cached {
namespace {

using test::DiskFault;

class ScopesDurability : public testing::Test {
 protected:
  ~ScopesDurability() override { test::follow({}); }

  // What a restart finds after a power cut: only what was synced.
  std::string after_power_cut(const store::ScopeKey& which) {
    const test::ScratchDir copy;
    for (const std::string name : {"cache.db", "cache.db-wal"}) {
      for (const std::string suffix : {"", ".synced"}) {
        std::error_code missing;
        std::filesystem::copy_file(dir_.path() / (name + suffix), copy.path() / (name + suffix),
                                   missing);
      }
    }
    test::lose_unsynced(copy.path() / "cache.db", test::Lost::both);
    Agent agent(time_.context(), copy.path());
    return shown(agent.table.find(which));
  }

  // What a restart finds after the process was killed.
  std::string after_kill(const store::ScopeKey& which) {
    const test::ScratchDir copy;
    for (const char* name : {"cache.db", "cache.db-wal"}) {
      std::error_code missing;
      std::filesystem::copy_file(dir_.path() / name, copy.path() / name, missing);
    }
    Agent agent(time_.context(), copy.path());
    return shown(agent.table.find(which));
  }

  static std::int64_t syncs() { return test::fault_counts().syncs; }

  test::ScratchDir dir_;
  test::VirtualTime time_;
};

TEST_F(ScopesDurability, APowerCutTakesUpdatesButNoPodThatCameOrWent) {
  test::follow({.keep_synced = true});
  Agent run(time_.context(), dir_.path(), sync::watch::CacheLimits{}, "fault");
  const ScopePtr scope = run.scopes.open(pods).value();
  ASSERT_TRUE(run.content.replace(*scope, objects({{"a", 3}}), 9, pod_kind));
  EXPECT_EQ(after_power_cut(pods), "9: a@3") << "the first list is durable";
  ASSERT_TRUE(run.content.apply(*scope, put("a", 10)));
  ASSERT_TRUE(run.scopes.flush());
  EXPECT_EQ(after_power_cut(pods), "9: a@3") << "an update is written, but not synced";
  ASSERT_TRUE(run.content.apply(*scope, put("b", 11)));
  EXPECT_EQ(after_power_cut(pods), "11: a@10 b@11") << "a new pod is durable";
  ASSERT_TRUE(
      run.content.apply(*scope, {sync::watch::EventType::deleted, key("a"), object("a", 12)}));
  EXPECT_EQ(after_power_cut(pods), "12: b@11") << "a deletion is durable";
  ASSERT_TRUE(run.content.replace(*scope, objects({{"b", 11}, {"c", 14}}), 14, pod_kind));
  EXPECT_EQ(after_power_cut(pods), "14: b@11 c@14") << "a new pod in a list is durable";
  const ScopePtr other = run.scopes.open(configmaps).value();
  ASSERT_TRUE(run.content.replace(*other, objects({{"m", 3}}), 9, {"ConfigMap", "v1"}));
  EXPECT_EQ(after_power_cut(configmaps), "9: m@3") << "the first list of every scope is durable";
}

// Each commit leaves the scope on disk as it is in memory, with its version, although not all
// commits write the version. A power cut leaves the state of some commit, so no event is lost or
// repeated.
TEST_F(ScopesDurability, EachCommitLeavesTheScopeAsItIsInMemory) {
  test::follow({});
  Agent run(time_.context(), dir_.path(), sync::watch::CacheLimits{}, "fault");
  std::mt19937 random(20261123);
  const auto below = [&random](unsigned bound) { return static_cast<unsigned>(random() % bound); };
  const auto some_name = [&below] { return std::string(1, static_cast<char>('a' + below(5))); };
  for (const store::ScopeKey& which : {pods, configmaps}) {
    const ScopePtr scope = run.scopes.open(which).value();
    ASSERT_TRUE(run.content.replace(*scope, objects({{"a", 3}}), 1000, pod_kind));
    for (int step = 0; step < 400; ++step) {
      SCOPED_TRACE(step);
      const sync::objects::Version next = scope->cache().version() + 1 + below(3);
      const std::string name = some_name();
      const unsigned what = below(20);
      const bool local_now = scope->cache().has_local_events();
      if (what < 8 && !local_now) {
        ASSERT_TRUE(run.content.apply(*scope, put(name, next)));
      } else if (what < 12 && !local_now && scope->cache().find(key(name)) != nullptr) {
        ASSERT_TRUE(run.content.apply(
            *scope, {sync::watch::EventType::deleted, key(name), object(name, next)}));
      } else if (what < 15) {
        run.content.apply_local(*scope, put(name, run.versions.next().value()));
      } else if (what < 16 && !local_now) {
        run.content.bookmark(*scope, next);
        (void)run.content.apply(*scope, put(name, next + 1));
      } else if (what < 19) {
        // The cloud's next list; or its first one after a restore from a backup; or one whose
        // objects have versions of their own.
        const int version = 1000 + step * 3 - (what == 17 ? 500 : 0);
        const int of_object = what == 18 ? version + 70 : version - 1;
        const auto list = objects({{"a", of_object}, {name, version - 2}});
        ASSERT_TRUE(run.content.replace(*scope, list, static_cast<sync::objects::Version>(version),
                                        pod_kind));
      }
      if (below(3) > 0) continue;
      ASSERT_TRUE(run.scopes.flush());
      ASSERT_EQ(after_kill(which), shown(scope));
    }
  }
}

TEST_F(ScopesDurability, OnlyDurableMomentsCostAnFsync) {
  test::follow({});
  Agent run(time_.context(), dir_.path(), sync::watch::CacheLimits{}, "fault");
  const ScopePtr scope = run.scopes.open(pods).value();
  ASSERT_TRUE(run.content.replace(*scope, objects({{"a", 3}}), 9, pod_kind));
  const store::Answer token{.status = 201, .bytes = "t"};
  struct Case {
    const char* what;
    std::function<void(int)> act;
    std::int64_t syncs;
  };
  const Case cases[] = {
      {"100 updates",
       [&run, &scope](int i) {
         (void)run.content.apply(*scope, put("a", 10U + static_cast<sync::objects::Version>(i)));
       },
       0},
      {"100 answers that are no tokens",
       [&run, &token](int i) {
         (void)run.answers.put("node", "/version" + std::to_string(i), token);
       },
       0},
  };
  for (const Case& c : cases) {
    const std::int64_t before = syncs();
    for (int i = 0; i < 100; ++i) {
      c.act(i);
      ASSERT_TRUE(run.scopes.flush());
    }
    EXPECT_EQ(syncs() - before, c.syncs) << c.what;
  }
  std::int64_t before = syncs();
  ASSERT_TRUE(run.content.apply(*scope, put("b", 200)));
  EXPECT_EQ(syncs() - before, 1) << "a new pod costs one fsync";
  before = syncs();
  ASSERT_TRUE(run.answers.put("node", "token a", token));
  EXPECT_EQ(syncs() - before, 1) << "a new token costs one fsync";
}

asio::awaitable<void> read_into(http::BodyStream& stream, std::string& told) {
  const auto piece = co_await stream.next();
  told += piece ? *piece : piece.error().what;
}

TEST_F(ScopesDurability, WatchersOfPodsAreToldOnlyOfWhatIsDurable) {
  for (const DiskFault fault : {DiskFault::full, DiskFault::broken}) {
    const test::ScratchDir dir;
    test::follow({});
    Agent run(time_.context(), dir.path(), sync::watch::CacheLimits{}, "fault");
    const ScopePtr scope = run.scopes.open(pods).value();
    ASSERT_TRUE(run.content.replace(*scope, objects({{"a", 3}}), 9, pod_kind));
    const WatchRequest request{.from = 9,
                               .bookmarks = true,
                               .bookmark_interval = Duration(0),
                               .end = run.clock.mono() + std::chrono::hours(1)};
    const auto watch = open_watch(scope, request, run.clock).value();
    test::follow({.fail_from = 1, .fault = fault});
    ASSERT_TRUE(run.content.apply(*scope, put("b", 10)));
    ASSERT_TRUE(run.content.apply(*scope, put("a", 11)));
    EXPECT_TRUE(scope->held());
    std::string told;
    asio::co_spawn(time_.context(), read_into(*watch, told), asio::detached);
    time_.settle();
    EXPECT_EQ(told, "") << "neither an event nor a bookmark";
    EXPECT_FALSE(run.scopes.flush()) << "still broken";
    time_.settle();
    EXPECT_EQ(told, "");

    test::follow({});
    ASSERT_TRUE(run.scopes.flush());
    EXPECT_EQ(test::fault_counts().syncs, 1) << "the retry is durable, too";
    EXPECT_FALSE(scope->held());
    time_.settle();
    EXPECT_NE(told.find("\"b\""), std::string::npos) << told;
    EXPECT_NE(told.find("\"11\""), std::string::npos) << told;
  }
}

TEST_F(ScopesDurability, AnHourOfHeartbeatsCostsFewFsyncs) {
  using namespace std::chrono_literals;
  test::follow({.within = "cache.db"});
  test::use_for_all(true);
  {
    uplink::UplinkFixture fixture;
    fixture.cloud.put("/api/v1/namespaces/a/configmaps", "one");
    ASSERT_TRUE(fixture.until(sync::autonomy::LinkState::connected));
    ASSERT_EQ(fixture.ask("/api/v1/namespaces/a/configmaps?resourceVersion=0").status, 200);
    fixture.time.run(10s);
    const std::int64_t before = syncs();
    EXPECT_GT(before, 0) << "the first list was durable";
    for (int i = 0; i < 360; ++i) {  // for example a leader election's ConfigMap
      fixture.cloud.put("/api/v1/namespaces/a/configmaps", "one",
                        R"({"data":{"beat":")" + std::to_string(i) + "\"}}");
      fixture.time.run(10s);
    }
    EXPECT_LE(syncs() - before, 10) << "only for checkpoints";
    EXPECT_GE(test::fault_counts().writes, 360) << "they were written";
  }
  test::use_for_all(false);
}

}  // namespace
}  // namespace holdfast::agent::cached
