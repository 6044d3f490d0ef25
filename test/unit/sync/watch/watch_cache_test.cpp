// A client that watches a cached scope gets every event once, or `gone`.

#include "sync/watch/watch_cache.h"

namespace holdfast::sync::watch {
namespace {

const wire::ScopeKind pods{"Pod", "v1"};
constexpr objects::Version local = objects::first_local_version;

std::string body(objects::Version version) {
  return R"({"metadata":{"uid":"u","resourceVersion":")" + std::to_string(version) + R"("}})";
}

CachedObject object(objects::Version version, std::string uid = "u") {
  return {std::move(uid), version, std::make_shared<const std::string>(body(version))};
}

ObjectKey key(std::string name) { return {"ns", std::move(name)}; }

WatchCache::Objects objects(std::initializer_list<std::pair<std::string, objects::Version>> all) {
  WatchCache::Objects made;
  for (const auto& [name, version] : all) made[key(name)] = object(version);
  return made;
}

CacheEvent put(std::string name, objects::Version version) {
  return {EventType::modified, key(std::move(name)), object(version)};
}

CacheEvent removal(std::string name, objects::Version version) {
  return {EventType::deleted, key(std::move(name)), object(version)};
}

std::string text(const CacheEvent& event) {
  EXPECT_EQ(**event.object.bytes.load(), body(event.object.version))
      << "clients read it from the object";
  return std::string(to_string(event.type)) + " " + event.key.name + "@" +
         std::to_string(event.object.version);
}

using Texts = std::vector<std::string>;

Texts texts(const std::vector<CacheEvent>& events) {
  Texts all;
  for (const CacheEvent& event : events) all.push_back(text(event));
  return all;
}

// All events from `position` on, or "gone".
Texts read(const WatchCache& cache, WatchCache::Position& position) {
  cache.check_invariants();
  Texts seen;
  for (;;) {
    const auto event = cache.at(position);
    if (!event) {
      EXPECT_EQ(event.error().code, Errc::gone);
      seen.emplace_back("gone");
      return seen;
    }
    if (*event == nullptr) return seen;
    seen.push_back(text(**event));
    ++position;
  }
}

Texts watch(const WatchCache& cache, objects::Version from) {
  auto position = cache.position_of(from);
  if (!position) return {"gone"};
  return read(cache, *position);
}

TEST(WatchCache, ObjectsStandInTheOrderOfAnApiServersKeys) {
  const ObjectKey ordered[] = {{"", "a"},  {"", "b"},  {"a-b", "x"}, {"a", "a"}, {"a", "a-"},
                               {"a", "b"}, {"a0", ""}, {"ab", "a"},  {"b", "a"}};
  for (const ObjectKey& left : ordered) {
    for (const ObjectKey& right : ordered) {
      const auto by_place = &left <=> &right;
      EXPECT_EQ(left <=> right, by_place) << left.namespace_name << "/" << left.name << " "
                                          << right.namespace_name << "/" << right.name;
    }
  }
}

TEST(WatchCache, AFirstListMakesItComplete) {
  WatchCache cache;
  EXPECT_FALSE(cache.complete());
  EXPECT_EQ(texts(cache.replace(objects({{"b", 5}, {"a", 7}}), 9, pods)),
            (Texts{"ADDED b@5", "ADDED a@7"}));
  EXPECT_TRUE(cache.complete());
  EXPECT_EQ(cache.version(), 9u);
  EXPECT_EQ(cache.kind(), pods);
  EXPECT_EQ(cache.objects().size(), 2u);
  EXPECT_EQ(watch(cache, 9), Texts{});
  EXPECT_EQ(watch(cache, 8), Texts{"gone"}) << "events before the list are not known";
}

TEST(WatchCache, AnEmptyListIsCompleteToo) {
  WatchCache cache;
  EXPECT_EQ(texts(cache.replace({}, 3, pods)), Texts{});
  EXPECT_TRUE(cache.complete());
  EXPECT_EQ(watch(cache, 3), Texts{});
}

TEST(WatchCache, EventsComeOnceInOrderWithTheirTypeAsClientsSeeIt) {
  WatchCache cache;
  cache.replace(objects({{"a", 5}}), 9, pods);
  EXPECT_TRUE(cache.apply(put("b", 10)));
  EXPECT_TRUE(cache.apply(put("a", 11)));
  EXPECT_FALSE(cache.apply(put("a", 11))) << "repeated";
  EXPECT_FALSE(cache.apply(put("b", 8))) << "old";
  EXPECT_FALSE(cache.apply(removal("a", 11))) << "old";
  EXPECT_TRUE(cache.apply(removal("b", 12)));
  EXPECT_FALSE(cache.apply(removal("b", 13))) << "already deleted";
  EXPECT_FALSE(cache.apply(removal("never", 14)));
  EXPECT_EQ(cache.version(), 14u);
  EXPECT_EQ(watch(cache, 9), (Texts{"ADDED b@10", "MODIFIED a@11", "DELETED b@12"}));
  EXPECT_EQ(watch(cache, 10), (Texts{"MODIFIED a@11", "DELETED b@12"}));
  EXPECT_EQ(watch(cache, 12), Texts{});
  EXPECT_EQ(cache.find(key("b")), nullptr);
  EXPECT_EQ(cache.find(key("a"))->version, 11u);
}

TEST(WatchCache, BookmarksOnlyMoveForward) {
  WatchCache cache;
  cache.replace({}, 9, pods);
  cache.bookmark(20);
  cache.bookmark(15);
  EXPECT_EQ(cache.version(), 20u);
  EXPECT_FALSE(cache.apply(put("a", 20)));
  EXPECT_EQ(watch(cache, 9), Texts{}) << "the history continues";
}

TEST(WatchCache, AClientThatKnowsMoreThanTheCacheWaitsForWhatComes) {
  WatchCache cache;
  cache.replace({}, 9, pods);
  auto position = cache.position_of(30);
  ASSERT_TRUE(position);
  EXPECT_EQ(*position, cache.end());
  cache.apply(put("a", 31));
  EXPECT_EQ(read(cache, *position), Texts{"ADDED a@31"});
}

TEST(WatchCache, ALaterListBecomesEventsOfWhichNoneSharesItsVersion) {
  WatchCache cache;
  cache.replace(objects({{"a", 1}, {"b", 2}, {"c", 3}, {"d", 4}, {"e", 5}}), 9, pods);
  // b changed, c stayed, f is new and has the list's own version; a, d and e were deleted.
  const Texts all = texts(cache.replace(objects({{"b", 12}, {"c", 3}, {"f", 15}}), 15, pods));
  EXPECT_EQ(all,
            (Texts{"DELETED e@11", "MODIFIED b@12", "DELETED d@13", "DELETED a@14", "ADDED f@15"}));
  EXPECT_EQ(watch(cache, 9), all);
  // A client that resumes after any of these events gets exactly the rest.
  EXPECT_EQ(watch(cache, 11), Texts(all.begin() + 1, all.end()));
  EXPECT_EQ(watch(cache, 13), Texts(all.begin() + 3, all.end()));
  EXPECT_EQ(watch(cache, 15), Texts{});
  EXPECT_EQ(cache.version(), 15u);
}

TEST(WatchCache, ListsThatCanNotBeToldAsEventsBreakTheHistoryOff) {
  struct Case {
    const char* what;
    WatchCache::Objects now;
    objects::Version version;
  };
  WatchCache::Objects same_version_other_bytes = objects({{"a", 5}});
  same_version_other_bytes[key("a")].bytes = std::make_shared<const std::string>(body(5) + " ");
  same_version_other_bytes[key("b")] = object(7);
  const Case cases[] = {
      {"the server was set back", objects({{"a", 5}}), 8},
      {"a deletion without a version", objects({{"a", 5}}), 9},
      {"an older object", objects({{"a", 4}, {"b", 7}}), 20},
      {"other bytes of the same version", same_version_other_bytes, 20},
      {"no room for the deletion", objects({{"c", 10}}), 10},
      {"two changes with one version", objects({{"a", 5}, {"b", 12}, {"c", 12}}), 20},
  };
  for (const Case& c : cases) {
    WatchCache cache;
    cache.replace(objects({{"a", 5}, {"b", 7}}), 9, pods);
    auto position = cache.position_of(9).value();
    EXPECT_FALSE(cache.replace(c.now, c.version, pods).empty()) << c.what;
    WatchCache::Position copy = position;
    const auto event = cache.at(copy);
    EXPECT_FALSE(event) << c.what;
    EXPECT_EQ(cache.position_of(9).has_value(), c.version <= 9) << c.what;
    EXPECT_EQ(cache.version(), c.version) << c.what;
    EXPECT_EQ(cache.position_of(c.version).value(), cache.end()) << c.what;
  }
}

TEST(WatchCache, ARecreatedObjectIsNews) {
  WatchCache cache;
  cache.replace(objects({{"a", 5}}), 9, pods);
  WatchCache::Objects now;
  now[key("a")] = object(12, "other");
  EXPECT_EQ(texts(cache.replace(now, 12, pods)), Texts{"MODIFIED a@12"});
  EXPECT_EQ(cache.find(key("a"))->uid, "other");
}

TEST(WatchCache, TheSameListAgainIsNoNews) {
  WatchCache cache;
  cache.replace(objects({{"a", 5}}), 9, pods);
  auto position = cache.position_of(9).value();
  EXPECT_EQ(texts(cache.replace(objects({{"a", 5}}), 9, pods)), Texts{});
  EXPECT_EQ(texts(cache.replace(objects({{"a", 5}}), 11, pods)), Texts{});
  cache.apply(put("b", 12));
  EXPECT_EQ(read(cache, position), Texts{"ADDED b@12"});
}

TEST(WatchCache, LocalWritesAreEventsAndEndWithTheCloudsNextList) {
  WatchCache cache;
  cache.replace(objects({{"a", 5}, {"b", 6}}), 9, pods);
  auto saw_nothing_yet = cache.position_of(9).value();
  EXPECT_FALSE(cache.has_local_events());
  cache.apply_local(put("a", local + 1));
  cache.apply_local(removal("b", local + 2));
  cache.apply_local(put("m", local + 5));
  EXPECT_TRUE(cache.has_local_events());
  EXPECT_EQ(cache.version(), local + 5);
  auto position = saw_nothing_yet;
  const std::string first = "MODIFIED a@" + std::to_string(local + 1);
  const std::string last = "ADDED m@" + std::to_string(local + 5);
  EXPECT_EQ(read(cache, position), (Texts{first, "DELETED b@" + std::to_string(local + 2), last}));
  EXPECT_EQ(watch(cache, local + 2), Texts{last});
  EXPECT_FALSE(cache.apply(put("a", 50)))
      << "events of the API server are ignored before its next list";
  cache.bookmark(60);
  EXPECT_EQ(cache.version(), local + 5);

  cache.replace(objects({{"a", 50}}), 60, pods);
  EXPECT_FALSE(cache.has_local_events());
  EXPECT_EQ(cache.version(), 60u);
  EXPECT_EQ(read(cache, position), Texts{"gone"}) << "an open watch that has seen local versions";
  EXPECT_EQ(watch(cache, local + 5), Texts{"gone"}) << "one that resumes at a local version";
  EXPECT_EQ(watch(cache, 9), Texts{"gone"}) << "one whose history would have a gap";
  EXPECT_EQ(watch(cache, 60), Texts{});
  cache.apply(put("a", 61));
  EXPECT_EQ(watch(cache, 60), Texts{"MODIFIED a@61"});
}

TEST(WatchCache, ALocalVersionThatWasNeverGivenOutIsOfAnotherHistory) {
  WatchCache cache;
  cache.replace({}, 9, pods);
  EXPECT_EQ(watch(cache, local), Texts{"gone"});
  cache.apply_local(put("a", local + 3));
  EXPECT_EQ(watch(cache, local + 3), Texts{});
  EXPECT_EQ(watch(cache, local + 100), Texts{"gone"}) << "it would wait forever";
}

TEST(WatchCache, ARestoredCacheGoesOnWhereItWas) {
  WatchCache cache;
  cache.restore(objects({{"a", 5}}), 9, pods);
  EXPECT_TRUE(cache.complete());
  EXPECT_EQ(watch(cache, 8), Texts{"gone"});
  EXPECT_EQ(watch(cache, 9), Texts{});
  cache.apply(put("a", 12));
  EXPECT_EQ(watch(cache, 9), Texts{"MODIFIED a@12"});
}

TEST(WatchCache, ARestoredCacheRemembersThatItSpokeOfLocalVersions) {
  WatchCache cache;
  cache.restore(objects({{"a", local + 7}}), local + 7, pods);
  EXPECT_TRUE(cache.has_local_events());
  EXPECT_EQ(watch(cache, local + 7), Texts{});
  EXPECT_EQ(watch(cache, local + 6), Texts{"gone"});
  cache.apply_local(put("a", local + 1000));
  EXPECT_EQ(watch(cache, local + 7), Texts{"MODIFIED a@" + std::to_string(local + 1000)});
  cache.replace(objects({{"a", 50}}), 60, pods);
  EXPECT_EQ(watch(cache, local + 1000), Texts{"gone"});
}

TEST(WatchCache, HistoryIsLimitedByEvents) {
  WatchCache cache({.events = 3});
  cache.replace({}, 9, pods);
  auto slow = cache.position_of(9).value();
  for (objects::Version version = 10; version < 15; ++version) cache.apply(put("a", version));
  EXPECT_EQ(watch(cache, 10), Texts{"gone"});
  EXPECT_EQ(watch(cache, 11), (Texts{"MODIFIED a@12", "MODIFIED a@13", "MODIFIED a@14"}));
  EXPECT_EQ(read(cache, slow), Texts{"gone"});
}

TEST(WatchCache, HistoryIsLimitedByBytesButKeepsTheLastEvent) {
  WatchCache cache({.events = 100, .bytes = 2 * body(10).size()});
  cache.replace({}, 9, pods);
  cache.apply(put("a", 10));
  cache.apply(put("a", 11));
  EXPECT_EQ(watch(cache, 9), (Texts{"ADDED a@10", "MODIFIED a@11"}));
  cache.apply(put("a", 12));
  EXPECT_EQ(watch(cache, 9), Texts{"gone"});
  EXPECT_EQ(watch(cache, 10), (Texts{"MODIFIED a@11", "MODIFIED a@12"}));
  CacheEvent big = put("b", 13);
  big.object.bytes = std::make_shared<const std::string>(body(13) + std::string(1000, ' '));
  cache.apply(big);
  EXPECT_EQ(watch(cache, 11), Texts{"gone"});
  EXPECT_TRUE(cache.position_of(12));
  EXPECT_TRUE(cache.at(cache.position_of(12).value()).value() != nullptr);
}

// The write was decided on another scope, which is newer than this one.
TEST(WatchCache, ALocalDeletionOfAnUnknownObjectChangesNothingButTheVersion) {
  WatchCache cache;
  cache.replace(objects({{"a", 5}}), 9, pods);
  EXPECT_FALSE(cache.apply_local(removal("never", local + 1)));
  EXPECT_EQ(cache.version(), local + 1);
  EXPECT_EQ(watch(cache, 9), Texts{});
  EXPECT_TRUE(cache.apply_local(removal("a", local + 2)));
  cache.check_invariants();
}

}  // namespace
}  // namespace holdfast::sync::watch
