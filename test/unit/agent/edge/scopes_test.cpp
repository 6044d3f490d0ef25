// The agent's cache over a database: what a restart finds, and what a watch on it sees.

#include "agent/edge/scopes.h"

#include <algorithm>

#include "agent/edge/watch_stream.h"
#include "store/recover.h"
#include "test/support/run.h"
#include "test/support/scratch_dir.h"

namespace holdfast::agent {
namespace {

using namespace std::chrono_literals;

const sync::ScopeKind pod_kind{"Pod", "v1"};
const store::ScopeKey pods{.owner = "node", .version = "v1", .resource = "pods"};
const store::ScopeKey configmaps{.owner = "node", .version = "v1", .resource = "configmaps"};
constexpr sync::Version local = sync::first_local_version;

sync::ObjectKey key(std::string name) { return {"ns", std::move(name)}; }

sync::CachedObject object(const std::string& name, sync::Version version) {
  return {"u", version,
          std::make_shared<const std::string>(R"({"metadata":{"name":")" + name +
                                              R"(","namespace":"ns","uid":"u",)"
                                              R"("resourceVersion":")" +
                                              std::to_string(version) + R"("}})")};
}

sync::CacheEvent put(const std::string& name, sync::Version version) {
  return {sync::EventType::modified, key(name), object(name, version)};
}

sync::WatchCache::Objects objects(std::initializer_list<std::pair<std::string, int>> all) {
  sync::WatchCache::Objects made;
  for (const auto& [name, version] : all) {
    made[key(name)] = object(name, static_cast<sync::Version>(version));
  }
  return made;
}

// One run of the agent on the data directory.
struct Agent {
  Agent(asio::io_context& context, const std::filesystem::path& dir, std::size_t scopes_max = 100)
      : Agent(context, dir, CacheLimits{.scopes = scopes_max}) {}
  Agent(asio::io_context& context, const std::filesystem::path& dir, const CacheLimits& limits)
      : database(store::open_or_rebuild(dir / "cache.db", {}, store::cache_schema(), {})
                     .value()
                     .database),
        scopes(context.get_executor(), database, clock, limits) {
    EXPECT_TRUE(scopes.restore());
  }

  SystemClock clock;
  store::Database database;
  Scopes scopes;
};

std::string shown(const ScopePtr& scope) {
  if (!scope) return "none";
  if (!scope->cache().complete()) return "incomplete";
  std::string text = std::to_string(scope->cache().version()) + ":";
  for (const auto& [name, cached] : scope->cache().objects()) {
    text += " " + name.name + "@" + std::to_string(cached.version);
  }
  return text;
}

TEST(Scopes, ARestartFindsWhatWasFlushed) {
  const test::ScratchDir dir;
  asio::io_context context(1);
  {
    Agent run(context, dir.path());
    const ScopePtr scope = run.scopes.open(configmaps).value();
    EXPECT_EQ(shown(scope), "incomplete");
    ASSERT_TRUE(run.scopes.open(pods));
    (void)run.scopes.replace(*scope, objects({{"a", 3}, {"b", 5}}), 9, {"ConfigMap", "v1"});
    (void)run.scopes.apply(*scope, put("c", 10));
    EXPECT_TRUE(run.scopes.has_unwritten());
    ASSERT_TRUE(run.scopes.flush());
    EXPECT_FALSE(run.scopes.has_unwritten());
    (void)run.scopes.apply(*scope, put("late", 11));
  }
  Agent run(context, dir.path());
  EXPECT_EQ(shown(run.scopes.find(configmaps)), "10: a@3 b@5 c@10");
  EXPECT_EQ(run.scopes.find(configmaps)->cache().kind(), (sync::ScopeKind{"ConfigMap", "v1"}));
  EXPECT_EQ(shown(run.scopes.find(pods)), "incomplete") << "never listed is not empty";
}

TEST(Scopes, WhatComesAndGoesOfPodsIsOnDiskBeforeAnybodyIsTold) {
  const test::ScratchDir dir;
  asio::io_context context(1);
  const auto restarted = [&context, &dir] {
    // What a kill leaves behind: the file and its log.
    const test::ScratchDir copy;
    for (const char* name : {"cache.db", "cache.db-wal"}) {
      std::error_code missing;
      std::filesystem::copy_file(dir.path() / name, copy.path() / name, missing);
    }
    Agent agent(context, copy.path());
    return shown(agent.scopes.find(pods));
  };
  Agent run(context, dir.path());
  const ScopePtr scope = run.scopes.open(pods).value();
  (void)run.scopes.replace(*scope, objects({{"a", 3}}), 9, pod_kind);
  EXPECT_EQ(restarted(), "9: a@3");
  (void)run.scopes.apply(*scope, put("b", 10));
  EXPECT_EQ(restarted(), "10: a@3 b@10");
  (void)run.scopes.apply(*scope, put("b", 11));
  EXPECT_EQ(restarted(), "10: a@3 b@10") << "a mere update waits for its group";
  (void)run.scopes.apply(*scope, {sync::EventType::deleted, key("a"), object("a", 12)});
  EXPECT_EQ(restarted(), "12: b@11");
  (void)run.scopes.replace(*scope, objects({{"b", 11}, {"c", 14}}), 14, pod_kind);
  EXPECT_EQ(restarted(), "14: b@11 c@14");
}

TEST(Scopes, LocalVersionsGrowOverRestartsAndAreDurableAtOnce) {
  const test::ScratchDir dir;
  asio::io_context context(1);
  sync::Version last = 0;
  for (int round = 0; round < 3; ++round) {
    Agent run(context, dir.path());
    const ScopePtr scope = run.scopes.open(configmaps).value();
    if (round == 0) (void)run.scopes.replace(*scope, objects({{"a", 3}}), 9, pod_kind);
    EXPECT_EQ(scope->cache().has_local_events(), round > 0);
    for (int i = 0; i < 3; ++i) {
      const sync::Version next = run.scopes.next_local_version().value();
      EXPECT_GT(next, last);
      EXPECT_GE(next, local);
      last = next;
      run.scopes.apply_local(*scope, put("a", next));
      ASSERT_TRUE(run.scopes.flush());
    }
    EXPECT_FALSE(run.scopes.has_unwritten());
    EXPECT_EQ(shown(scope), std::to_string(last) + ": a@" + std::to_string(last));
  }
}

TEST(Scopes, ADamagedObjectMakesItsScopeUnknownAndNoOther) {
  const test::ScratchDir dir;
  asio::io_context context(1);
  {
    Agent run(context, dir.path());
    for (const store::ScopeKey& each : {pods, configmaps}) {
      const ScopePtr scope = run.scopes.open(each).value();
      (void)run.scopes.replace(*scope, objects({{"a", 3}, {"b", 5}}), 9, pod_kind);
    }
    ASSERT_TRUE(run.scopes.flush());
    auto change = run.database.prepare(
        "UPDATE object SET bytes = x'78' WHERE name = 'b' AND scope IN"
        " (SELECT id FROM scope WHERE resource = 'pods')");
    ASSERT_TRUE(change.use().run());
  }
  {
    Agent run(context, dir.path());
    EXPECT_EQ(shown(run.scopes.find(pods)), "incomplete");
    EXPECT_EQ(shown(run.scopes.find(configmaps)), "9: a@3 b@5");
    const ScopePtr scope = run.scopes.find(pods);
    (void)run.scopes.replace(*scope, objects({{"a", 3}, {"b", 5}}), 12, pod_kind);
    ASSERT_TRUE(run.scopes.flush());
  }
  Agent next(context, dir.path());
  EXPECT_EQ(shown(next.scopes.find(pods)), "12: a@3 b@5");
}

TEST(Scopes, WhatComesForADroppedScopeIsIgnored) {
  const test::ScratchDir dir;
  asio::io_context context(1);
  Agent run(context, dir.path());
  ScopePtr scope = run.scopes.open(configmaps).value();
  (void)run.scopes.replace(*scope, objects({{"a", 3}}), 9, {"ConfigMap", "v1"});
  ASSERT_TRUE(run.scopes.drop(*scope));
  (void)run.scopes.apply(*scope, put("late", 10));
  (void)run.scopes.replace(*scope, objects({{"b", 11}}), 11, {"ConfigMap", "v1"});
  run.scopes.bookmark(*scope, 12);
  run.scopes.apply_local(*scope, put("a", local));
  EXPECT_FALSE(run.scopes.has_unwritten()) << "that would outlive the scope";
  EXPECT_FALSE(run.scopes.derive(*scope));
  scope.reset();
  EXPECT_TRUE(run.scopes.flush());
}

TEST(Scopes, OneThatCannotBeWrittenDoesNotKeepOthersFromTheDisk) {
  const test::ScratchDir dir;
  asio::io_context context(1);
  {
    Agent run(context, dir.path());
    for (const store::ScopeKey& each : {pods, configmaps}) {
      (void)run.scopes.replace(*run.scopes.open(each).value(), objects({{"a", 3}}), 9, pod_kind);
    }
    ASSERT_TRUE(run.scopes.flush());
    auto remove = run.database.prepare("DELETE FROM object WHERE scope = ?1");
    ASSERT_TRUE(remove.use(static_cast<std::int64_t>(run.scopes.find(pods)->id())).run());
    auto row = run.database.prepare("DELETE FROM scope WHERE resource = 'pods'");
    ASSERT_TRUE(row.use().run());
    for (const store::ScopeKey& each : {pods, configmaps}) {
      (void)run.scopes.apply(*run.scopes.find(each), put("a", 12));
    }
    EXPECT_FALSE(run.scopes.flush());
    EXPECT_TRUE(run.scopes.has_unwritten());
  }
  Agent next(context, dir.path());
  EXPECT_EQ(shown(next.scopes.find(configmaps)), "12: a@12");
}

TEST(Scopes, TheirNumberIsLimited) {
  const test::ScratchDir dir;
  asio::io_context context(1);
  Agent run(context, dir.path(), 1);
  ASSERT_TRUE(run.scopes.open(pods));
  EXPECT_TRUE(run.scopes.open(pods)) << "the same one";
  const auto more = run.scopes.open(configmaps);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code, Errc::exhausted);
}

store::ScopeKey of(const std::string& owner, int number) {
  return {.owner = owner,
          .version = "v1",
          .resource = "configmaps",
          .namespace_name = "ns" + std::to_string(number)};
}

std::size_t count(const Scopes& scopes, const std::string& owner) {
  return static_cast<std::size_t>(
      std::count_if(scopes.all().begin(), scopes.all().end(),
                    [&owner](const auto& each) { return each.first.owner == owner; }));
}

TEST(Scopes, AnOwnerHasHisQuotaAndTheNodeAlwaysHasRoom) {
  const test::ScratchDir dir;
  asio::io_context context(1);
  Agent run(context, dir.path(), 40);
  std::size_t dropped = 0;
  run.scopes.on_drop([&dropped](const LocalScope& scope) {
    EXPECT_TRUE(scope.retired());
    ++dropped;
  });
  for (int i = 0; i < 30; ++i) ASSERT_TRUE(run.scopes.open(of("token:a", i))) << i;
  EXPECT_EQ(count(run.scopes, "token:a"), 20u) << "half of all";
  EXPECT_EQ(dropped, 10u);
  for (int i = 0; i < 30; ++i) ASSERT_TRUE(run.scopes.open(of("token:b", i))) << i;
  EXPECT_EQ(count(run.scopes, "token:a"), 10u) << "they share alike";
  EXPECT_EQ(count(run.scopes, "token:b"), 10u);
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(run.scopes.open(of("node", i))) << i;
  EXPECT_EQ(count(run.scopes, "node"), 40u);
  EXPECT_FALSE(run.scopes.open(of("node", 41)));
  EXPECT_FALSE(run.scopes.open(of("token:a", 1)));
}

TEST(Scopes, TheLeastRecentlyUsedOfAnOwnerGoesFirstAndNeverAWatchedOne) {
  const test::ScratchDir dir;
  asio::io_context context(1);
  Agent run(context, dir.path(), 6);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(run.scopes.open(of("token:a", i)));
  const ScopePtr first = run.scopes.find(of("token:a", 0));
  const ScopePtr second = run.scopes.find(of("token:a", 1));
  first->note_use(run.clock.mono() + 1s);
  second->watch_begins();
  ASSERT_TRUE(run.scopes.open(of("token:a", 3)));
  EXPECT_EQ(run.scopes.find(of("token:a", 2)), nullptr);
  EXPECT_NE(run.scopes.find(of("token:a", 0)), nullptr);
  EXPECT_NE(run.scopes.find(of("token:a", 1)), nullptr);
}

sync::CachedObject large(std::size_t bytes, sync::Version version) {
  return {"u", version, std::make_shared<const std::string>(std::string(bytes, 'x'))};
}

TEST(Scopes, BytesAndObjectsAreLimitedAndARefusedListChangesNothing) {
  const test::ScratchDir dir;
  asio::io_context context(1);
  const CacheLimits limits{.foreign = {.bytes = 20'000},
                           .memory_bytes = 100'000,
                           .scope_bytes = 60'000,
                           .scope_objects = 10};
  Agent run(context, dir.path(), limits);
  const auto fill = [&run](const store::ScopeKey& where, std::size_t bytes, int version) {
    sync::WatchCache::Objects all;
    all[key("a")] = large(bytes, static_cast<sync::Version>(version));
    const ScopePtr scope = run.scopes.open(where).value();
    const Status done =
        run.scopes.replace(*scope, std::move(all), static_cast<sync::Version>(version), pod_kind);
    return done ? "ok" : std::string(to_string(done.error().code));
  };
  EXPECT_EQ(fill(of("node", 1), 50'000, 5), "ok");
  EXPECT_EQ(fill(of("node", 1), 70'000, 6), "exhausted") << "of one scope";
  EXPECT_EQ(run.scopes.find(of("node", 1))->cache().version(), 5u);
  EXPECT_EQ(fill(of("token:a", 1), 15'000, 5), "ok");
  EXPECT_EQ(fill(of("token:a", 2), 25'000, 5), "exhausted") << "of one owner";
  EXPECT_EQ(fill(of("token:a", 3), 15'000, 5), "ok") << "his own last one made room";
  EXPECT_EQ(run.scopes.find(of("token:a", 1)), nullptr);
  EXPECT_EQ(fill(of("node", 2), 48'000, 5), "ok") << "the foreign one made room";
  EXPECT_EQ(run.scopes.find(of("token:a", 3)), nullptr);
  EXPECT_EQ(fill(of("node", 3), 10'000, 5), "exhausted") << "of all";
  EXPECT_FALSE(run.scopes.find(of("node", 3))->cache().complete()) << "unknown, not empty";
  EXPECT_LE(run.scopes.memory_bytes(), limits.memory_bytes);

  const ScopePtr scope = run.scopes.find(of("node", 2));
  EXPECT_FALSE(run.scopes.apply(*scope, {sync::EventType::modified, key("b"), large(20'000, 9)}));
  EXPECT_EQ(scope->cache().version(), 5u) << "an event without room is not half taken over";
  sync::WatchCache::Objects many;
  for (int i = 0; i < 11; ++i) many[key(std::to_string(i))] = large(1, 5);
  EXPECT_FALSE(run.scopes.replace(*scope, std::move(many), 10, pod_kind));
  EXPECT_TRUE(run.scopes.drop(*scope));
  EXPECT_EQ(fill(of("node", 3), 10'000, 5), "ok");
}

TEST(Scopes, WhatIsLargerThanTheLimitsIsNotReadAtTheStart) {
  const test::ScratchDir dir;
  asio::io_context context(1);
  {
    Agent run(context, dir.path());
    for (const store::ScopeKey& each : {of("token:a", 1), of("node", 1), of("node", 2)}) {
      sync::WatchCache::Objects all;
      all[key("a")] = large(each.namespace_name == "ns2" ? 90'000 : 10'000, 5);
      EXPECT_TRUE(run.scopes.replace(*run.scopes.open(each).value(), std::move(all), 5, pod_kind));
    }
  }
  Agent run(context, dir.path(), CacheLimits{.memory_bytes = 15'000, .scope_bytes = 50'000});
  EXPECT_EQ(count(run.scopes, "node"), 1u);
  EXPECT_TRUE(run.scopes.find(of("node", 1))->cache().complete());
  EXPECT_EQ(count(run.scopes, "token:a"), 0u);
}

TEST(Scopes, OnlyAScopeThatWouldHaveItProvesThatAnObjectIsNotThere) {
  const test::ScratchDir dir;
  asio::io_context context(1);
  Agent run(context, dir.path());
  store::ScopeKey mine = pods;
  mine.field_selector = "spec.nodeName=edge-a";
  store::ScopeKey other_owner = pods;
  other_owner.owner = "token:x";
  store::ScopeKey space = configmaps;
  space.namespace_name = "ns";
  for (const store::ScopeKey& each : {mine, other_owner, space}) {
    (void)run.scopes.replace(*run.scopes.open(each).value(), objects({{"a", 3}}), 9, pod_kind);
  }
  const ScopePtr by_node = run.scopes.find(mine);
  EXPECT_EQ(run.scopes.covering(pods, key("a"), true), by_node);
  EXPECT_EQ(run.scopes.covering(pods, key("a"), false), nullptr);
  EXPECT_EQ(run.scopes.covering(pods, key("x"), true), nullptr) << "a selection proves nothing";
  EXPECT_NE(run.scopes.covering(other_owner, key("x"), true), nullptr) << "all of them do";
  EXPECT_NE(run.scopes.covering(configmaps, key("x"), true), nullptr);
  EXPECT_EQ(run.scopes.covering(configmaps, {"elsewhere", "a"}, true), nullptr);
}

TEST(WatchStream, PassesOverWhatItsClientHasSeenInTheCloud) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    const test::ScratchDir dir;
    Agent run(context, dir.path());
    const ScopePtr scope = run.scopes.open(pods).value();
    (void)run.scopes.replace(*scope, objects({{"a", 3}}), 9, pod_kind);
    // A list that the cloud itself answered was at 20.
    const WatchRequest request{.from = 20, .bookmarks = true, .end = run.clock.mono() + 60s};
    const auto stream = open_watch(scope, request, run.clock).value();
    const auto bookmark = co_await stream->next();
    EXPECT_NE(bookmark.value().find(R"("resourceVersion":"20")"), std::string::npos) << *bookmark;
    (void)run.scopes.apply(*scope, put("a", 15));
    (void)run.scopes.apply(*scope, put("a", 20));
    (void)run.scopes.apply(*scope, put("a", 21));
    const auto piece = co_await stream->next();
    EXPECT_EQ(*piece, R"({"type":"MODIFIED","object":{"kind":"Pod","apiVersion":"v1","metadata":)"
                      R"({"name":"a","namespace":"ns","uid":"u","resourceVersion":"21"}}})"
                      "\n");
    (void)run.scopes.replace(*scope, {}, 5, pod_kind);
    const auto end = co_await stream->next();
    EXPECT_TRUE(end.value().starts_with(R"({"type":"ERROR","object":{"kind":"Status")")) << *end;
    EXPECT_NE(end->find(R"("code":410)"), std::string::npos);
    const auto after = co_await stream->next();
    EXPECT_EQ(*after, "");
  });
}

TEST(WatchStream, BeginsWithEverythingWhenNoVersionIsNamed) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    const test::ScratchDir dir;
    Agent run(context, dir.path());
    const ScopePtr scope = run.scopes.open(pods).value();
    (void)run.scopes.replace(*scope, objects({{"a", 3}, {"b", 5}}), 9, pod_kind);
    WatchRequest request{
        .initial_events_end = true, .bookmark_interval = 60s, .end = run.clock.mono() + 50ms};
    const auto stream = open_watch(scope, request, run.clock).value();
    const auto piece = co_await stream->next();
    EXPECT_EQ(std::count(piece->begin(), piece->end(), '\n'), 3);
    EXPECT_NE(piece->find(R"("annotations":{"k8s.io/initial-events-end":"true"})"),
              std::string::npos)
        << *piece;
    const auto end = co_await stream->next();
    EXPECT_EQ(end.value(), "") << "at its time it ends well";
    request.from = 4;
    const auto too_old = open_watch(scope, request, run.clock);
    EXPECT_FALSE(too_old);
    const auto again = open_watch(scope, {.from = 9, .end = run.clock.mono() + 60s}, run.clock);
    (*again)->cancel();
    const auto cancelled = co_await (*again)->next();
    EXPECT_FALSE(cancelled);
  });
}

}  // namespace
}  // namespace holdfast::agent
