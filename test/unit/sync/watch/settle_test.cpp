// A scope returns from local versions to the server's by the answers to its writes.

#include <gtest/gtest.h>

#include "sync/watch/watch_cache.h"

namespace holdfast::sync::watch::settle {
namespace {

const wire::ScopeKind pods{"Pod", "v1"};
constexpr objects::Version local = objects::first_local_version;

CachedObject object(objects::Version version, std::string_view what, std::string uid = "u") {
  std::string body = R"({"metadata":{"uid":")" + uid + R"(","resourceVersion":")" +
                     std::to_string(version) + R"("},"what":")" + std::string(what) + "\"}";
  return {std::move(uid), version, std::make_shared<const std::string>(std::move(body))};
}

ObjectKey key(std::string name) { return {"ns", std::move(name)}; }

CacheEvent put(std::string name, objects::Version version, std::string_view what,
               std::string uid = "u") {
  return {EventType::modified, key(std::move(name)), object(version, what, std::move(uid))};
}

CacheEvent removal(std::string name, objects::Version version, std::string uid = "u") {
  return {EventType::deleted, key(std::move(name)), object(version, "last", std::move(uid))};
}

// All objects: "a=server@5 b=..." with their versions.
std::string text(const WatchCache& cache) {
  cache.check_invariants();
  std::string all;
  for (const auto& [key, object] : cache.objects()) {
    const std::string bytes = **object.bytes.load();
    const std::size_t from = bytes.find(R"("what":")") + 8;
    all += (all.empty() ? "" : " ") + key.name + "=" + bytes.substr(from, bytes.size() - from - 2) +
           "@" + std::to_string(object.version);
  }
  return all;
}

// Objects `a` at 5 and `b` at 6, seen up to 9; then `a` was written locally.
WatchCache written() {
  WatchCache cache;
  cache.replace({{key("a"), object(5, "server")}, {key("b"), object(6, "server")}}, 9, pods);
  EXPECT_TRUE(cache.apply_local(put("a", local + 1, "mine")));
  return cache;
}

TEST(Settle, TakesOverWhatTheServerHasAnsweredAndGoesOnWhereItWas) {
  WatchCache cache = written();
  auto open = cache.position_of(local + 1).value();
  EXPECT_EQ(cache.written().size(), 1u);
  EXPECT_EQ(cache.written().at(key("a"))->version, 5u) << "what the server had shown";

  EXPECT_TRUE(cache.settle({{key("a"), object(14, "answered")}}));
  EXPECT_EQ(text(cache), "a=answered@14 b=server@6");
  EXPECT_EQ(cache.version(), 9u);
  EXPECT_FALSE(cache.has_local_events());
  EXPECT_TRUE(cache.written().empty());
  EXPECT_EQ(cache.at(open).error().code, Errc::gone) << "a watch that has seen local versions";
  EXPECT_EQ(cache.position_of(local + 1).error().code, Errc::gone);

  EXPECT_FALSE(cache.apply(put("a", 11, "older"))) << "written by somebody else before";
  EXPECT_EQ(cache.version(), 11u) << "it counts as seen";
  EXPECT_TRUE(cache.apply(put("b", 12, "other")));
  EXPECT_TRUE(cache.apply(put("a", 14, "the same")));
  EXPECT_TRUE(cache.apply(put("a", 15, "newer")));
  EXPECT_EQ(text(cache), "a=newer@15 b=other@12");
}

TEST(Settle, ObjectsThatAreGoneStayGone) {
  WatchCache cache = written();
  ASSERT_TRUE(cache.apply_local(removal("b", local + 2)));
  EXPECT_TRUE(cache.settle({{key("a"), std::nullopt}, {key("b"), std::nullopt}}));
  EXPECT_EQ(text(cache), "") << "also one that was only changed here";
  EXPECT_FALSE(cache.apply(put("b", 10, "before it was deleted")));
  EXPECT_FALSE(cache.apply(removal("b", 11)));
  EXPECT_TRUE(cache.apply(put("b", 12, "recreated", "u2")));
  EXPECT_TRUE(cache.apply(put("a", 13, "recreated", "u2"))) << "whose deletion was never shown";
  EXPECT_EQ(text(cache), "a=recreated@13 b=recreated@12");
}

TEST(Settle, AnObjectThatLeavesTheScopeBeforeTheAnswerMayReturn) {
  WatchCache cache = written();
  ASSERT_TRUE(cache.settle({{key("a"), object(14, "answered")}}));
  EXPECT_TRUE(cache.apply(removal("a", 10)));
  EXPECT_EQ(text(cache), "b=server@6");
  EXPECT_TRUE(cache.apply(put("a", 12, "returned")));
  EXPECT_EQ(text(cache), "a=returned@12 b=server@6");
}

TEST(Settle, AWriteThatChangedNothingLeavesTheServersBytes) {
  WatchCache cache = written();
  EXPECT_TRUE(cache.settle({{key("a"), object(5, "the same, reformatted")}}));
  EXPECT_EQ(text(cache), "a=server@5 b=server@6");
  EXPECT_TRUE(cache.apply(put("a", 10, "newer")));
}

// The server's watch must then continue at version(): it sends again what was missed.
TEST(Settle, TellsWhetherEventsWereMissed) {
  WatchCache cache = written();
  EXPECT_FALSE(cache.has_missed_events());
  EXPECT_FALSE(cache.apply(put("b", 6, "repeated")));
  EXPECT_FALSE(cache.has_missed_events());
  cache.bookmark(12);
  EXPECT_FALSE(cache.has_missed_events());
  EXPECT_FALSE(cache.apply(put("b", 13, "missed")));
  EXPECT_TRUE(cache.has_missed_events());
  EXPECT_TRUE(cache.settle({{key("a"), object(14, "answered")}}));
  EXPECT_FALSE(cache.has_missed_events());
  EXPECT_EQ(cache.version(), 9u);
  EXPECT_TRUE(cache.apply(put("b", 13, "sent again")));
  EXPECT_EQ(text(cache), "a=answered@14 b=sent again@13");
}

TEST(Settle, WritesAfterItCountAnew) {
  WatchCache cache = written();
  ASSERT_TRUE(cache.settle({{key("a"), object(14, "answered")}}));
  ASSERT_TRUE(cache.apply_local(put("a", local + 5, "mine again")));
  EXPECT_EQ(cache.written().at(key("a"))->version, 14u);
  EXPECT_TRUE(cache.settle({{key("a"), object(14, "answered")}})) << "nothing was changed";
  EXPECT_EQ(text(cache), "a=answered@14 b=server@6");
  ASSERT_TRUE(cache.apply_local(removal("a", local + 6)));
  ASSERT_TRUE(cache.settle({{key("a"), std::nullopt}}));
  EXPECT_TRUE(cache.apply_local(put("a", local + 7, "mine"))) << "not an event of the server";
}

// The server's watch brings what has become of it.
TEST(Settle, AnObjectWithoutAnAnswerReturnsToWhatTheServerHadShown) {
  WatchCache cache = written();
  ASSERT_TRUE(cache.apply_local(put("b", local + 2, "mine")));
  EXPECT_TRUE(cache.settle({{key("b"), object(14, "answered")}, {key("c"), std::nullopt}}));
  EXPECT_EQ(text(cache), "a=server@5 b=answered@14");
  EXPECT_EQ(cache.version(), 9u);
  EXPECT_TRUE(cache.apply(put("a", 10, "older"))) << "no state is left out";
  EXPECT_TRUE(cache.apply(put("a", 12, "written")));
  EXPECT_EQ(text(cache), "a=written@12 b=answered@14");
}

TEST(Settle, NeedsAListIfTheAnswersDoNotTellEnough) {
  const struct {
    std::string_view what;
    void (*prepare)(WatchCache&);
    WatchCache::States answered;
  } rows[] = {
      {"deleted locally, without an answer",
       [](WatchCache& cache) { cache.apply_local(removal("b", local + 2)); },
       {{key("a"), object(14, "answered")}}},
      {"deleted and recreated locally, without an answer",
       [](WatchCache& cache) {
         cache.apply_local(removal("a", local + 2));
         cache.apply_local(put("a", local + 3, "mine", "local"));
       },
       {}},
      {"created locally",
       [](WatchCache& cache) { cache.apply_local(put("new", local + 2, "mine", "local")); },
       {{key("a"), object(14, "answered")}, {key("new"), object(15, "answered", "local")}}},
      {"deleted, but unknown here",
       [](WatchCache& cache) { cache.apply_local(removal("never", local + 2)); },
       {{key("a"), object(14, "answered")}, {key("never"), std::nullopt}}},
      {"another object of that name",
       [](WatchCache&) {},
       {{key("a"), object(14, "answered", "u2")}}},
      {"older than what the server has shown",
       [](WatchCache&) {},
       {{key("a"), object(4, "answered")}}},
      {"a state between, which must have been shown",
       [](WatchCache&) {},
       {{key("a"), object(7, "answered")}}},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    WatchCache cache = written();
    row.prepare(cache);
    const std::string before = text(cache);
    const objects::Version version = cache.version();
    EXPECT_FALSE(cache.settle(row.answered));
    EXPECT_EQ(text(cache), before);
    EXPECT_EQ(cache.version(), version);
    EXPECT_TRUE(cache.has_local_events());
    cache.replace({{key("a"), object(14, "listed")}}, 20, pods);
    EXPECT_EQ(text(cache), "a=listed@14");
    EXPECT_TRUE(cache.written().empty());
  }
}

TEST(Settle, NeedsAListIfTheWritesWereOfAnEarlierRun) {
  WatchCache cache;
  cache.restore({{key("a"), object(local + 1, "mine")}, {key("b"), object(6, "server")}}, local + 1,
                pods);
  EXPECT_FALSE(cache.settle({}));
  ASSERT_TRUE(cache.apply_local(put("b", local + 2, "mine")));
  EXPECT_FALSE(cache.settle({{key("b"), object(14, "answered")}}));
}

TEST(Settle, NothingToDoWithoutLocalWrites) {
  WatchCache cache;
  EXPECT_FALSE(cache.settle({}));
  cache.replace({{key("a"), object(5, "server")}}, 9, pods);
  EXPECT_FALSE(cache.settle({}));
  EXPECT_EQ(text(cache), "a=server@5");
}

// The states that the server had shown are kept meanwhile.
TEST(Settle, WhatIsKeptForItCountsAsMemory) {
  WatchCache cache;
  cache.replace({{key("a"), object(5, "server")}}, 9, pods);
  const auto memory = [&cache] { return cache.object_bytes() + cache.history_bytes(); };
  const std::size_t before = memory();
  ASSERT_TRUE(cache.apply_local(put("a", local + 1, "mine")));
  const std::size_t kept = object(5, "server").bytes.size() + object_overhead;
  EXPECT_GE(memory(), before + kept);
  ASSERT_TRUE(cache.settle({{key("a"), object(5, "server")}}));
  EXPECT_EQ(memory(), before);
}

}  // namespace
}  // namespace holdfast::sync::watch::settle
