// The limits of the agent's cache, for all owners together and for each of them.

#include <filesystem>
#include <random>

#include "agent/edge/room_settings.h"
#include "test/support/virtual_time.h"
#include "test/unit/agent/edge/cache_run.h"

namespace holdfast::agent::cached {
namespace {

using namespace std::chrono_literals;

TEST(Scopes, TheirNumberIsLimited) {
  const test::ScratchDir dir;
  test::VirtualTime time;
  Agent run(time.context(), dir.path(), 1);
  ASSERT_TRUE(run.scopes.open(pods));
  EXPECT_TRUE(run.scopes.open(pods)) << "opening it again is not counted";
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

std::size_t count(const ScopeTable& scopes, const std::string& owner) {
  return static_cast<std::size_t>(
      std::count_if(scopes.all().begin(), scopes.all().end(),
                    [&owner](const auto& each) { return each.first.owner == owner; }));
}

TEST(Scopes, AnOwnerHasHisQuotaAndTheNodeAlwaysHasRoom) {
  const test::ScratchDir dir;
  test::VirtualTime time;
  Agent run(time.context(), dir.path(), 40);
  std::vector<ScopePtr> opened;
  for (int i = 0; i < 30; ++i) opened.push_back(run.scopes.open(of("token:a", i)).value());
  EXPECT_EQ(count(run.table, "token:a"), 20u) << "an owner may have half of all";
  const auto is_detached = [](const ScopePtr& scope) { return scope->is_detached(); };
  EXPECT_EQ(std::count_if(opened.begin(), opened.end(), is_detached), 10);
  for (int i = 0; i < 30; ++i) ASSERT_TRUE(run.scopes.open(of("token:b", i))) << i;
  EXPECT_EQ(count(run.table, "token:a"), 10u) << "foreign owners share equally";
  EXPECT_EQ(count(run.table, "token:b"), 10u);
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(run.scopes.open(of("node", i))) << i;
  EXPECT_EQ(count(run.table, "node"), 40u);
  EXPECT_FALSE(run.scopes.open(of("token:a", 1)));
}

TEST(Scopes, AtTheLimitTheNodesLeastNeededScopeGoesFirst) {
  const test::ScratchDir dir;
  test::VirtualTime time;
  Agent run(time.context(), dir.path(), 5);
  const auto named = [](const char* name) {
    store::ScopeKey key = of("node", 1);
    key.field_selector = std::string("metadata.name=") + name;
    return key;
  };
  const store::ScopeKey all_pods{.owner = "node", .version = "v1", .resource = "pods"};
  run.table.set_needed({{"configmaps", "ns1", "needed"}});
  for (const auto& key :
       {all_pods, named("needed"), of("node", 2), named("watched"), named("idle")}) {
    ASSERT_TRUE(run.scopes.open(key));
  }
  run.table.find(named("watched"))->add_watch();
  ASSERT_TRUE(run.scopes.open(of("node", 3)));
  EXPECT_EQ(run.table.find(named("idle")), nullptr) << "a scope of one unused object goes first";
  ASSERT_TRUE(run.scopes.open(of("node", 4)));
  EXPECT_EQ(run.table.find(of("node", 2)), nullptr)
      << "then scopes of one namespace, the oldest first";
  for (const int number : {3, 4}) run.table.find(of("node", number))->add_watch();
  EXPECT_FALSE(run.scopes.open(of("node", 5))) << "scopes in use are never dropped";
  for (const auto& key : {all_pods, named("needed"), named("watched")}) {
    EXPECT_NE(run.table.find(key), nullptr);
  }
}

TEST(Scopes, TheLeastRecentlyUsedOfAnOwnerGoesFirstAndNeverAWatchedOne) {
  const test::ScratchDir dir;
  test::VirtualTime time;
  Agent run(time.context(), dir.path(), 6);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(run.scopes.open(of("token:a", i)));
  const ScopePtr first = run.table.find(of("token:a", 0));
  const ScopePtr second = run.table.find(of("token:a", 1));
  first->note_use(run.clock.mono() + 1s);
  second->add_watch();
  ASSERT_TRUE(run.scopes.open(of("token:a", 3)));
  EXPECT_EQ(run.table.find(of("token:a", 2)), nullptr);
  EXPECT_NE(run.table.find(of("token:a", 0)), nullptr);
  EXPECT_NE(run.table.find(of("token:a", 1)), nullptr);
}

sync::watch::CachedObject large(std::size_t bytes, sync::objects::Version version) {
  return {"u", version, std::make_shared<const std::string>(std::string(bytes, 'x'))};
}

TEST(Scopes, BytesAndObjectsAreLimitedAndARefusedListChangesNothing) {
  const test::ScratchDir dir;
  test::VirtualTime time;
  const sync::watch::CacheLimits limits{.foreign = {.bytes = 20'000},
                                        .memory_bytes = 100'000,
                                        .scope_bytes = 60'000,
                                        .scope_objects = 10};
  Agent run(time.context(), dir.path(), limits);
  const auto fill = [&run](const store::ScopeKey& where, std::size_t bytes, int version) {
    sync::watch::WatchCache::Objects all;
    all[key("a")] = large(bytes, static_cast<sync::objects::Version>(version));
    const ScopePtr scope = run.scopes.open(where).value();
    const Status done = run.content.replace(*scope, std::move(all),
                                            static_cast<sync::objects::Version>(version), pod_kind);
    return done ? "ok" : std::string(to_string(done.error().code));
  };
  EXPECT_EQ(fill(of("node", 1), 50'000, 5), "ok");
  EXPECT_EQ(fill(of("node", 1), 70'000, 6), "exhausted") << "the limit of one scope";
  EXPECT_EQ(run.table.find(of("node", 1))->cache().version(), 5u);
  EXPECT_EQ(fill(of("token:a", 1), 15'000, 5), "ok");
  EXPECT_EQ(fill(of("token:a", 2), 25'000, 5), "exhausted") << "the limit of one owner";
  EXPECT_EQ(fill(of("token:a", 3), 15'000, 5), "ok") << "the owner's oldest scope made room";
  EXPECT_EQ(run.table.find(of("token:a", 1)), nullptr);
  EXPECT_EQ(fill(of("node", 2), 48'000, 5), "ok") << "the foreign scope made room";
  EXPECT_EQ(run.table.find(of("token:a", 3)), nullptr);
  EXPECT_EQ(fill(of("node", 3), 10'000, 5), "exhausted") << "the limit of all scopes";
  EXPECT_FALSE(run.table.find(of("node", 3))->cache().complete())
      << "the scope is unknown, not empty";
  EXPECT_LE(run.table.memory_bytes(), limits.memory_bytes);

  const ScopePtr scope = run.table.find(of("node", 2));
  EXPECT_FALSE(
      run.content.apply(*scope, {sync::watch::EventType::modified, key("b"), large(20'000, 9)}));
  EXPECT_EQ(scope->cache().version(), 5u) << "an event without room changes nothing";
  sync::watch::WatchCache::Objects many;
  for (int i = 0; i < 11; ++i) many[key(std::to_string(i))] = large(1, 5);
  EXPECT_FALSE(run.content.replace(*scope, std::move(many), 10, pod_kind));
  EXPECT_TRUE(run.scopes.drop(*scope));
  EXPECT_EQ(fill(of("node", 3), 10'000, 5), "ok");
}

TEST(Scopes, AnotherCallersListMayBeHalfAsLargeAsTheNodes) {
  struct Row {
    std::int64_t list_bytes_max;
    std::size_t foreign;
  };
  const Row rows[] = {{1 << 20, 4UL << 20}, {8 << 20, 4UL << 20}, {64 << 20, 32UL << 20}};
  for (const Row& row : rows) {
    EdgeOptions options;
    options.list_bytes_max = row.list_bytes_max;
    EXPECT_EQ(cache_limits(options).foreign.bytes, row.foreign) << row.list_bytes_max;
  }
}

TEST(Scopes, TheFileAndItsLogStayBelowTheirLimit) {
  const test::ScratchDir dir;
  test::VirtualTime time;
  const sync::watch::CacheLimits limits{.disk_bytes = 16 << 20};
  Agent run(time.context(), dir.path(), limits);
  std::mt19937 random(1);
  const auto incompressible = [&random] {
    std::string bytes(1 << 20, '\0');
    for (char& each : bytes) each = static_cast<char>(random() % 256);
    return sync::watch::CachedObject{"u", 5, std::make_shared<const std::string>(std::move(bytes))};
  };
  int written = 0;
  int refused = 0;
  for (int i = 0; i < 15; ++i) {
    sync::watch::WatchCache::Objects all;
    all[key("a")] = incompressible();
    const ScopePtr scope = run.scopes.open(of("node", i)).value();
    ASSERT_TRUE(run.content.replace(*scope, std::move(all), 5, pod_kind));
    const Status flushed = run.scopes.flush();
    if (!flushed) {
      EXPECT_EQ(flushed.error().code, Errc::exhausted) << flushed.error().what;
    }
    ++(flushed ? written : refused);
    const auto bytes = std::filesystem::file_size(dir.path() / "cache.db") +
                       std::filesystem::file_size(dir.path() / "cache.db-wal");
    EXPECT_LE(bytes, static_cast<std::uintmax_t>(limits.disk_bytes)) << i;
  }
  EXPECT_GE(written, 10) << "three quarters of the limit are for the file";
  EXPECT_GE(refused, 3);
}

TEST(Scopes, WhatIsLargerThanTheLimitsIsNotInMemoryAfterAStart) {
  const test::ScratchDir dir;
  test::VirtualTime time;
  {
    Agent run(time.context(), dir.path());
    for (const store::ScopeKey& each : {of("token:a", 1), of("node", 1), of("node", 2)}) {
      sync::watch::WatchCache::Objects all;
      all[key("a")] = large(each.namespace_name == "ns2" ? 90'000 : 10'000, 5);
      EXPECT_TRUE(run.content.replace(*run.scopes.open(each).value(), std::move(all), 5, pod_kind));
    }
  }
  Agent run(time.context(), dir.path(),
            sync::watch::CacheLimits{.memory_bytes = 15'000, .scope_bytes = 50'000});
  EXPECT_EQ(count(run.table, "node"), 2u);
  for (const int i : {1, 2}) {
    const ScopePtr scope = run.table.find(of("node", i));
    EXPECT_TRUE(scope->cache().complete());
    EXPECT_EQ(scope->keeps_on_disk(), i == 2);
  }
  EXPECT_LE(run.table.memory_bytes(), 15'000u);
  EXPECT_EQ(count(run.table, "token:a"), 0u) << "only the node's are kept on disk";
}

TEST(Scopes, ForeignOwnersHaveNoMoreAtTheStartThanLater) {
  const test::ScratchDir dir;
  test::VirtualTime time;
  const auto fill = [](Agent& run, const store::ScopeKey& which) {
    sync::watch::WatchCache::Objects all;
    all[key("a")] = large(10'000, 5);
    EXPECT_TRUE(run.content.replace(*run.scopes.open(which).value(), std::move(all), 5, pod_kind));
  };
  {
    Agent run(time.context(), dir.path());
    for (const char* owner : {"token:a", "token:b", "token:c", "node"}) {
      for (int i = 0; i < 8; ++i) fill(run, of(owner, i));
    }
  }
  {
    Agent run(time.context(), dir.path(),
              sync::watch::CacheLimits{.scopes = 20, .foreign = {.scopes = 4}});
    EXPECT_EQ(count(run.table, "node"), 8u);
    for (const char* owner : {"token:a", "token:b", "token:c"}) {
      EXPECT_LE(count(run.table, owner), 4u);
    }
    EXPECT_EQ(run.table.all().size(), 18u) << "foreign owners may have half of all";
  }
  Agent run(time.context(), dir.path(),
            sync::watch::CacheLimits{.foreign = {.bytes = 35'000}, .memory_bytes = 150'000});
  EXPECT_EQ(count(run.table, "node"), 8u);
  EXPECT_LE(run.table.memory_bytes(), 150'000u);
  for (const char* owner : {"token:a", "token:b", "token:c"}) {
    EXPECT_LE(count(run.table, owner), 3u) << owner;
  }
}

// Local writes in foreign scopes are only copies: the outbox keeps the writes.
TEST(Scopes, ForeignScopesWithLocalWritesMakeRoomForTheNode) {
  const test::ScratchDir dir;
  test::VirtualTime time;
  Agent run(time.context(), dir.path(), 4);
  for (int i = 0; i < 2; ++i) {
    const ScopePtr scope = run.scopes.open(of("token:a", i)).value();
    EXPECT_TRUE(run.content.replace(*scope, objects({{"a", 4}}), 5, pod_kind));
    run.content.apply_local(*scope, put("a", local + 1));
    ASSERT_TRUE(scope->cache().has_local_events());
  }
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(run.scopes.open(of("node", i))) << i;
  EXPECT_EQ(count(run.table, "token:a"), 0u);
  // The node's own scopes are kept.
  const ScopePtr own = run.table.find(of("node", 0));
  EXPECT_TRUE(run.content.replace(*own, objects({{"a", 4}}), 5, pod_kind));
  run.content.apply_local(*own, put("a", local + 2));
  for (int i = 1; i < 4; ++i) run.table.find(of("node", i))->add_watch();
  EXPECT_FALSE(run.scopes.open(of("node", 4)));
}

}  // namespace
}  // namespace holdfast::agent::cached
