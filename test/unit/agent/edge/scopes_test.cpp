// The agent's cache on a database: what a restart finds, and what a watch of the cache sees.

#include <algorithm>

#include "agent/edge/answers/watch_stream.h"
#include "test/support/virtual_time.h"
#include "test/unit/agent/edge/cache_run.h"

namespace holdfast::agent::cached {
namespace {

using namespace std::chrono_literals;

TEST(Scopes, ARestartFindsWhatWasFlushed) {
  const test::ScratchDir dir;
  test::VirtualTime time;
  {
    Agent run(time.context(), dir.path());
    const ScopePtr scope = run.scopes.open(configmaps).value();
    EXPECT_EQ(shown(scope), "incomplete");
    ASSERT_TRUE(run.scopes.open(pods));
    (void)run.content.replace(*scope, objects({{"a", 3}, {"b", 5}}), 9, {"ConfigMap", "v1"});
    (void)run.content.apply(*scope, put("c", 10));
    ASSERT_TRUE(run.scopes.flush());
    (void)run.content.apply(*scope, put("late", 11));
  }
  Agent run(time.context(), dir.path());
  EXPECT_EQ(shown(run.table.find(configmaps)), "10: a@3 b@5 c@10");
  EXPECT_EQ(run.table.find(configmaps)->cache().kind(), (sync::wire::ScopeKind{"ConfigMap", "v1"}));
  EXPECT_EQ(run.table.find(pods), nullptr) << "a list that was never received is not empty";
}

TEST(Scopes, WhatComesAndGoesOfPodsIsOnDiskBeforeAnybodyIsTold) {
  const test::ScratchDir dir;
  test::VirtualTime time;
  const auto restarted = [&time, &dir] {
    // A copy of the files as a kill would leave them: the database and its log.
    const test::ScratchDir copy;
    for (const char* name : {"cache.db", "cache.db-wal"}) {
      std::error_code missing;
      std::filesystem::copy_file(dir.path() / name, copy.path() / name, missing);
    }
    Agent agent(time.context(), copy.path());
    return shown(agent.table.find(pods));
  };
  Agent run(time.context(), dir.path());
  const ScopePtr scope = run.scopes.open(pods).value();
  (void)run.content.replace(*scope, objects({{"a", 3}}), 9, pod_kind);
  EXPECT_EQ(restarted(), "9: a@3");
  (void)run.content.apply(*scope, put("b", 10));
  EXPECT_EQ(restarted(), "10: a@3 b@10");
  (void)run.content.apply(*scope, put("b", 11));
  EXPECT_EQ(restarted(), "10: a@3 b@10") << "an update waits for the next group commit";
  (void)run.content.apply(*scope, {sync::watch::EventType::deleted, key("a"), object("a", 12)});
  EXPECT_EQ(restarted(), "12: b@11");
  (void)run.content.replace(*scope, objects({{"b", 11}, {"c", 14}}), 14, pod_kind);
  EXPECT_EQ(restarted(), "14: b@11 c@14");
}

TEST(Scopes, LocalVersionsGrowOverRestartsAndAreDurableAtOnce) {
  const test::ScratchDir dir;
  test::VirtualTime time;
  sync::objects::Version last = 0;
  for (int round = 0; round < 3; ++round) {
    Agent run(time.context(), dir.path());
    const ScopePtr scope = run.scopes.open(configmaps).value();
    if (round == 0) (void)run.content.replace(*scope, objects({{"a", 3}}), 9, pod_kind);
    EXPECT_EQ(scope->cache().has_local_events(), round > 0);
    for (int i = 0; i < 3; ++i) {
      const sync::objects::Version next = run.versions.next().value();
      EXPECT_GT(next, last);
      EXPECT_GE(next, local);
      last = next;
      run.content.apply_local(*scope, put("a", next));
      ASSERT_TRUE(run.scopes.flush());
    }
    EXPECT_EQ(shown(scope), std::to_string(last) + ": a@" + std::to_string(last));
  }
}

TEST(Scopes, ADamagedObjectMakesItsScopeUnknownAndNoOther) {
  const test::ScratchDir dir;
  test::VirtualTime time;
  {
    Agent run(time.context(), dir.path());
    for (const store::ScopeKey& each : {pods, configmaps}) {
      const ScopePtr scope = run.scopes.open(each).value();
      (void)run.content.replace(*scope, objects({{"a", 3}, {"b", 5}}), 9, pod_kind);
    }
    ASSERT_TRUE(run.scopes.flush());
    auto change = run.file->database().prepare(
        "UPDATE object SET bytes = x'78' WHERE name = 'b' AND scope IN"
        " (SELECT id FROM scope WHERE resource = 'pods')");
    ASSERT_TRUE(change.use().run());
  }
  {
    Agent run(time.context(), dir.path());
    EXPECT_EQ(shown(run.table.find(pods)), "incomplete");
    EXPECT_EQ(shown(run.table.find(configmaps)), "9: a@3 b@5");
    const ScopePtr scope = run.table.find(pods);
    (void)run.content.replace(*scope, objects({{"a", 3}, {"b", 5}}), 12, pod_kind);
    ASSERT_TRUE(run.scopes.flush());
  }
  Agent next(time.context(), dir.path());
  EXPECT_EQ(shown(next.table.find(pods)), "12: a@3 b@5");
}

TEST(Scopes, WhatComesForADroppedScopeIsIgnored) {
  const test::ScratchDir dir;
  test::VirtualTime time;
  Agent run(time.context(), dir.path());
  ScopePtr scope = run.scopes.open(configmaps).value();
  (void)run.content.replace(*scope, objects({{"a", 3}}), 9, {"ConfigMap", "v1"});
  ASSERT_TRUE(run.scopes.drop(*scope));
  (void)run.content.apply(*scope, put("late", 10));
  (void)run.content.replace(*scope, objects({{"b", 11}}), 11, {"ConfigMap", "v1"});
  run.content.bookmark(*scope, 12);
  run.content.apply_local(*scope, put("a", local));
  EXPECT_FALSE(run.content.derive(*scope));
  scope.reset();
  EXPECT_TRUE(run.scopes.flush());
}

TEST(Scopes, ALocalDeletionReachesScopesThatLackTheObject) {
  const test::ScratchDir dir;
  test::VirtualTime time;
  Agent run(time.context(), dir.path());
  const ScopePtr scope = run.scopes.open(configmaps).value();
  (void)run.content.replace(*scope, objects({{"a", 3}}), 9, {"ConfigMap", "v1"});
  const sync::objects::Version version = run.versions.next().value();
  sync::watch::CacheEvent deletion = put("never", version);
  deletion.type = sync::watch::EventType::deleted;
  run.content.apply_local(*scope, deletion);
  EXPECT_EQ(shown(scope), std::to_string(version) + ": a@3");
  EXPECT_TRUE(run.scopes.flush());
}

TEST(Scopes, OneThatCannotBeWrittenDoesNotKeepOthersFromTheDisk) {
  const test::ScratchDir dir;
  test::VirtualTime time;
  {
    Agent run(time.context(), dir.path());
    for (const store::ScopeKey& each : {pods, configmaps}) {
      (void)run.content.replace(*run.scopes.open(each).value(), objects({{"a", 3}}), 9, pod_kind);
    }
    ASSERT_TRUE(run.scopes.flush());
    auto remove = run.file->database().prepare("DELETE FROM object WHERE scope = ?1");
    ASSERT_TRUE(remove.use(static_cast<std::int64_t>(run.table.find(pods)->row().value())).run());
    auto row = run.file->database().prepare("DELETE FROM scope WHERE resource = 'pods'");
    ASSERT_TRUE(row.use().run());
    for (const store::ScopeKey& each : {pods, configmaps}) {
      (void)run.content.apply(*run.table.find(each), put("a", 12));
    }
    EXPECT_FALSE(run.scopes.flush());
  }
  Agent next(time.context(), dir.path());
  EXPECT_EQ(shown(next.table.find(configmaps)), "12: a@12");
}

TEST(Scopes, OnlyAScopeThatWouldHaveItProvesThatAnObjectIsNotThere) {
  const test::ScratchDir dir;
  test::VirtualTime time;
  Agent run(time.context(), dir.path());
  store::ScopeKey mine = pods;
  mine.field_selector = "spec.nodeName=edge-a";
  store::ScopeKey other_owner = pods;
  other_owner.owner = "token:x";
  store::ScopeKey space = configmaps;
  space.namespace_name = "ns";
  for (const store::ScopeKey& each : {mine, other_owner, space}) {
    (void)run.content.replace(*run.scopes.open(each).value(), objects({{"a", 3}}), 9, pod_kind);
  }
  const ScopePtr by_node = run.table.find(mine);
  EXPECT_EQ(run.table.covering(pods, key("a"), true), by_node);
  EXPECT_EQ(run.table.covering(pods, key("a"), false), nullptr);
  EXPECT_EQ(run.table.covering(pods, key("x"), true), nullptr)
      << "a selection does not prove that an object is missing";
  EXPECT_NE(run.table.covering(other_owner, key("x"), true), nullptr)
      << "a complete list proves it";
  EXPECT_NE(run.table.covering(configmaps, key("x"), true), nullptr);
  EXPECT_EQ(run.table.covering(configmaps, {"elsewhere", "a"}, true), nullptr);
}

TEST(WatchStream, PassesOverWhatItsClientHasSeenInTheCloud) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    const test::ScratchDir dir;
    Agent run(context, dir.path());
    const ScopePtr scope = run.scopes.open(pods).value();
    (void)run.content.replace(*scope, objects({{"a", 3}}), 9, pod_kind);
    // The client's list was answered by the cloud at version 20.
    const WatchRequest request{.from = 20, .bookmarks = true, .end = run.clock.mono() + 60s};
    const auto stream = open_watch(scope, request, run.clock).value();
    const auto bookmark = co_await stream->next();
    EXPECT_NE(bookmark.value().find(R"("resourceVersion":"20")"), std::string::npos) << *bookmark;
    (void)run.content.apply(*scope, put("a", 15));
    (void)run.content.apply(*scope, put("a", 20));
    (void)run.content.apply(*scope, put("a", 21));
    const auto piece = co_await stream->next();
    EXPECT_EQ(*piece, R"({"type":"MODIFIED","object":{"kind":"Pod","apiVersion":"v1","metadata":)"
                      R"({"name":"a","namespace":"ns","uid":"u","resourceVersion":"21"}}})"
                      "\n");
    (void)run.content.replace(*scope, {}, 5, pod_kind);
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
    (void)run.content.replace(*scope, objects({{"a", 3}, {"b", 5}}), 9, pod_kind);
    WatchRequest request{
        .initial_events_end = true, .bookmark_interval = 60s, .end = run.clock.mono() + 50ms};
    const auto stream = open_watch(scope, request, run.clock).value();
    const auto piece = co_await stream->next();
    EXPECT_EQ(std::count(piece->begin(), piece->end(), '\n'), 3);
    EXPECT_NE(piece->find(R"("annotations":{"k8s.io/initial-events-end":"true"})"),
              std::string::npos)
        << *piece;
    const auto end = co_await stream->next();
    EXPECT_EQ(end.value(), "") << "it ends normally at its timeout";
    request.from = 4;
    const auto too_old = open_watch(scope, request, run.clock);
    EXPECT_FALSE(too_old);
    const auto again = open_watch(scope, {.from = 9, .end = run.clock.mono() + 60s}, run.clock);
    (*again)->cancel();
    const auto cancelled = co_await (*again)->next();
    EXPECT_FALSE(cancelled);
  });
}

TEST(Scopes, WhatIsCachedInOneEncodingAnswersNarrowerQuestionsInTheOther) {
  const test::ScratchDir dir;
  test::VirtualTime time;
  const auto pod = [](const char* name, const char* node) {
    std::string text = R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":")";
    text.append(name).append(R"(","namespace":"ns","uid":"u","resourceVersion":"3"},)");
    text.append(R"("spec":{"containers":null,"nodeName":")").append(node).append(R"("}})");
    return text;
  };
  for (const bool from_protobuf : {true, false}) {
    SCOPED_TRACE(from_protobuf);
    Agent run(time.context(), dir.path());
    const char* const cached = from_protobuf ? "protobuf" : "json";
    const char* const asked = from_protobuf ? "json" : "protobuf";
    store::ScopeKey wide = pods;
    wide.encoding = cached;
    const sync::wire::ScopeKind kind{"Pod", "v1", sync::wire::parse_encoding(cached).value()};
    sync::watch::WatchCache::Objects objects;
    for (const auto& [name, node] : {std::pair("a", "edge1"), std::pair("b", "edge2")}) {
      const std::string item = sync::watch::cached_form(pod(name, node)).value();
      auto bytes = sync::watch::in_encoding(kind, item).value();
      objects[key(name)] = {"u", 3, std::make_shared<const std::string>(std::move(bytes))};
    }
    ASSERT_TRUE(run.content.replace(*run.scopes.open(wide).value(), objects, 9, kind));
    store::ScopeKey narrow = pods;
    narrow.encoding = asked;
    narrow.field_selector = "spec.nodeName=edge1";
    EXPECT_EQ(run.table.wider_than(narrow).size(), 1u);
    const ScopePtr scope = run.scopes.open(narrow).value();
    ASSERT_TRUE(run.content.derive(*scope));
    EXPECT_EQ(shown(scope), "9: a@3");
    EXPECT_EQ(to_string(scope->cache().kind().encoding), asked);
    const std::string bytes = **scope->cache().find(key("a"))->bytes.load();
    EXPECT_EQ(to_string(sync::watch::encoding_of(bytes)), asked);
    const auto json =
        sync::wire::parse_json(sync::watch::cached_json(scope->cache().kind(), bytes).value());
    EXPECT_EQ(json->at("spec").at("nodeName").as_string(), "edge1");

    // A derived scope is not stored; its own list replaces it.
    EXPECT_TRUE(scope->derived());
    EXPECT_FALSE(scope->row());
    ASSERT_TRUE(run.content.replace(*scope, {}, 12, scope->cache().kind()));
    EXPECT_FALSE(scope->derived());
    EXPECT_TRUE(scope->row());
    for (const store::ScopeKey& each : {wide, narrow}) {
      ASSERT_TRUE(run.scopes.drop(*run.table.find(each)));
    }
  }
}

TEST(Scopes, APathIsEncodedWhateverTheCallersPathHad) {
  const test::ScratchDir dir;
  test::VirtualTime time;
  Agent run(time.context(), dir.path());
  const std::string evil = "v1 HTTP/1.1\r\nHost: x\r\n\r\nGET ";
  const std::string encoded = "v1%20HTTP%2F1.1%0D%0AHost%3A%20x%0D%0A%0D%0AGET%20";
  const std::pair<store::ScopeKey, std::string> rows[] = {
      {{.version = "v1", .resource = "pods"}, "/api/v1/pods"},
      {{.version = evil, .resource = "pods"}, "/api/" + encoded + "/pods"},
      {{.group = evil, .version = "v1", .resource = "pods"}, "/apis/" + encoded + "/v1/pods"},
      {{.version = "v1", .resource = evil, .namespace_name = evil},
       "/api/v1/namespaces/" + encoded + "/" + encoded},
  };
  for (const auto& [scope, path] : rows) EXPECT_EQ(run.scopes.open(scope).value()->path(), path);
}

}  // namespace
}  // namespace holdfast::agent::cached
