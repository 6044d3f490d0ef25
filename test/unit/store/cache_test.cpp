// The cache: scopes, known and unknown objects, replacement, grouped changes, windows.

#include "store/cache.h"

#include "test/unit/store/outcome.h"

namespace holdfast::store {
namespace {

using namespace std::chrono_literals;

const ScopeKey pods{"node:a", "", "v1", "pods", "", "", "spec.nodeName=a", "json"};
const WallTime midday{12h};

CachedObject object(std::string space, std::string name, std::string bytes) {
  return {{std::move(space), std::move(name)}, "uid-" + bytes, "rv-" + bytes, 0, bytes};
}

class CacheTest : public testing::Test {
 protected:
  CacheTest() {
    EXPECT_EQ(said(migrate(database_, cache_schema())), "ok");
    cache_.emplace(database_);
  }

  ScopeId open(const ScopeKey& key = pods) {
    Transaction transaction = value(database_.begin());
    const Scope scope = value(cache_->open_scope(transaction, key, midday));
    EXPECT_EQ(said(transaction.commit()), "ok");
    return scope.id;
  }

  Result<Replaced> replace(ScopeId scope, const std::vector<CachedObject>& objects,
                           std::string_view version = "10") {
    TRY(Transaction transaction, database_.begin());
    TRY(const Replaced replaced, cache_->replace_all(transaction, scope, version, objects));
    if (auto done = transaction.commit(); !done) return fail(done.error());
    return replaced;
  }

  Status apply(ScopeId scope, const ScopeChanges& changes) {
    TRY(Transaction transaction, database_.begin());
    if (auto done = cache_->apply(transaction, scope, changes); !done) return done;
    return transaction.commit();
  }

  Database database_ = Database::in_memory();
  std::optional<Cache> cache_;
};

TEST_F(CacheTest, AScopeIsMadeOnceForItsWholeKey) {
  EXPECT_EQ(value(cache_->find_scope(pods)), std::nullopt);
  const Scope expected{ScopeId{1}, pods, "", false, midday};
  EXPECT_EQ(open(), ScopeId{1});
  EXPECT_EQ(open(), ScopeId{1});
  EXPECT_EQ(value(cache_->find_scope(pods)), expected);

  std::vector<ScopeKey> others(8, pods);
  others[0].owner = "node:b";
  others[1].group = "x";
  others[2].version = "x";
  others[3].resource = "x";
  others[4].namespace_name = "x";
  others[5].label_selector = "x";
  others[6].field_selector = "x";
  others[7].encoding = "x";
  std::vector<Scope> all = {expected};
  for (const ScopeKey& key : others) all.push_back({open(key), key, "", false, midday});
  EXPECT_EQ(value(cache_->scopes()), all);
  EXPECT_EQ(all.back().id, ScopeId{9});
}

TEST_F(CacheTest, NeverLookedIsNotNotThere) {
  EXPECT_EQ(value(cache_->find_scope(pods)), std::nullopt);
  EXPECT_EQ(said(cache_->list(ScopeId{7})), "unavailable: the cache does not know this scope");

  const ScopeId scope = open();
  EXPECT_EQ(said(cache_->list(scope)), "unavailable: the scope was never completely received");

  ASSERT_EQ(said(apply(scope, {{}, {object("default", "a", "1")}, "5"})), "ok");
  EXPECT_EQ(said(cache_->list(scope)), "unavailable: the scope was never completely received");

  EXPECT_EQ(value(replace(scope, {})), (Replaced{0, 0, 1}));
  EXPECT_EQ(value(cache_->list(scope)), std::vector<CachedObject>{});
}

TEST_F(CacheTest, ReplacementWritesOnlyWhatChanged) {
  const ScopeId scope = open();
  const CachedObject a = object("default", "a", "1");
  const CachedObject b = object("default", "b", "2");
  const CachedObject c = object("kube-system", "a", "3");
  EXPECT_EQ(value(replace(scope, {c, a, b})), (Replaced{3, 0, 0}));
  EXPECT_EQ(value(cache_->list(scope)), (std::vector{a, b, c}));

  CachedObject same = a;
  same.local_version = 99;  // alone this is not a change
  CachedObject newer = b;
  newer.bytes = "22";
  newer.local_version = 100;
  const CachedObject d = object("default", "d", "4");
  EXPECT_EQ(value(replace(scope, {same, newer, d}, "11")), (Replaced{2, 1, 1}));
  EXPECT_EQ(value(cache_->list(scope)), (std::vector{a, newer, d}));
  EXPECT_EQ(value(cache_->find_scope(pods)), (Scope{scope, pods, "11", true, midday}));

  CachedObject reborn = a;
  reborn.uid = "other";
  EXPECT_EQ(value(replace(scope, {reborn, newer, d}, "12")), (Replaced{1, 2, 0}));
}

TEST_F(CacheTest, ReplacementIsAllOrNothing) {
  const ScopeId scope = open();
  const CachedObject a = object("default", "a", "1");
  ASSERT_TRUE(replace(scope, {a}));
  {
    Transaction transaction = value(database_.begin());
    ASSERT_TRUE(cache_->replace_all(transaction, scope, "11", {object("default", "b", "2")}));
  }
  EXPECT_EQ(value(cache_->list(scope)), std::vector{a});
  EXPECT_EQ(value(cache_->find_scope(pods)), (Scope{scope, pods, "10", true, midday}));
}

TEST_F(CacheTest, ScopesDoNotSeeEachOther) {
  ScopeKey other_key = pods;
  other_key.owner = "node:b";
  const ScopeId scope = open();
  const ScopeId other = open(other_key);
  const CachedObject mine = object("default", "a", "mine");
  const CachedObject theirs = object("default", "a", "theirs");
  ASSERT_TRUE(replace(scope, {mine}));
  ASSERT_TRUE(replace(other, {theirs, object("default", "b", "too")}));
  EXPECT_EQ(value(cache_->list(scope)), std::vector{mine});
  EXPECT_EQ(value(cache_->size(scope)), (CacheSize{1, 4}));
  EXPECT_EQ(value(cache_->size()), (CacheSize{3, 13}));

  Transaction transaction = value(database_.begin());
  ASSERT_EQ(said(cache_->drop_scope(transaction, other)), "ok");
  ASSERT_EQ(said(transaction.commit()), "ok");
  EXPECT_EQ(said(cache_->list(other)), "unavailable: the cache does not know this scope");
  EXPECT_EQ(value(cache_->list(scope)), std::vector{mine});
  EXPECT_EQ(value(cache_->size()), (CacheSize{1, 4}));
  EXPECT_EQ(said(apply(other, {{}, {theirs}, "5"})), "not_found: cache scope 2");
  EXPECT_EQ(said(replace(other, {theirs})), "not_found: cache scope 2");
  EXPECT_EQ(open(other_key), ScopeId{3});  // an old id is never used for a new scope
}

TEST_F(CacheTest, ChangesOfManyScopesShareATransaction) {
  ScopeKey other_key = pods;
  other_key.resource = "secrets";
  const ScopeId scope = open();
  const ScopeId other = open(other_key);
  const CachedObject a = object("default", "a", "1");
  const CachedObject b = object("default", "b", "2");
  ASSERT_TRUE(replace(scope, {a, b}));
  ASSERT_TRUE(replace(other, {}));

  CachedObject local = b;
  local.bytes = "status";
  local.local_version = 1001;
  const CachedObject c = object("default", "c", "3");
  Transaction transaction = value(database_.begin());
  const ScopeChanges first{{a.name, {"default", "never there"}}, {local}, "12"};
  const ScopeChanges second{{c.name}, {c}, ""};  // deleted and created again
  ASSERT_EQ(said(cache_->apply(transaction, scope, first)), "ok");
  ASSERT_EQ(said(cache_->apply(transaction, other, second)), "ok");
  ASSERT_EQ(said(transaction.commit()), "ok");

  EXPECT_EQ(value(cache_->list(scope)), std::vector{local});
  EXPECT_EQ(value(cache_->list(other)), std::vector{c});
  EXPECT_EQ(value(cache_->find_scope(pods))->resource_version, "12");
  EXPECT_EQ(value(cache_->find_scope(other_key))->resource_version, "10");
}

TEST_F(CacheTest, WindowsAreInNameOrder) {
  const ScopeId scope = open();
  std::vector<CachedObject> all;
  for (const char* space : {"", "a", "b", "c"}) {
    for (const char* name : {"x", "y", "z"}) all.push_back(object(space, name, "1"));
  }
  ASSERT_TRUE(replace(scope, {all.rbegin(), all.rend()}));
  const struct {
    std::string name;
    Window window;
    std::size_t first, count;
  } rows[] = {
      {"everything", {}, 0, 12},
      {"the first two", {.limit = 2}, 0, 2},
      {"the next two", {.after = {"", "y"}, .limit = 2}, 2, 2},
      {"the end", {.after = {"c", "y"}}, 11, 1},
      {"past it", {.after = {"d", ""}}, 12, 0},
      {"one namespace", {.namespace_name = "b"}, 6, 3},
      {"a page of it", {.namespace_name = "b", .after = {"b", "x"}, .limit = 1}, 7, 1},
      {"from before it", {.namespace_name = "b", .after = {"a", "y"}}, 6, 3},
      {"from after it", {.namespace_name = "b", .after = {"c", "x"}}, 0, 0},
      {"no such namespace", {.namespace_name = "bb"}, 0, 0},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(row.first);
    const std::vector<CachedObject> expected(first, first + static_cast<std::ptrdiff_t>(row.count));
    EXPECT_EQ(value(cache_->list(scope, row.window)), expected);
  }
}

TEST_F(CacheTest, AVisitEndsWithTheVisitorsError) {
  const ScopeId scope = open();
  ASSERT_TRUE(replace(scope, {object("default", "a", "1"), object("default", "b", "2")}));
  std::vector<std::string> seen;
  const auto visitor = [&seen](CachedObject found) -> Status {
    seen.push_back(found.name.name);
    return fail(Errc::cancelled, "enough");
  };
  EXPECT_EQ(said(cache_->visit(scope, {}, visitor)), "cancelled: enough");
  EXPECT_EQ(seen, std::vector<std::string>{"a"});
}

TEST_F(CacheTest, UseIsRememberedByTheDay) {
  const ScopeId scope = open();
  const struct {
    WallTime now;
    WallTime remembered;
  } rows[] = {
      {midday + 24h - 1s, midday},
      {midday + 24h, midday + 24h},
      {midday + 47h, midday + 24h},
      {midday - 24h, midday - 24h},  // the wall clock was set back
  };
  for (const auto& row : rows) {
    Transaction transaction = value(database_.begin());
    ASSERT_EQ(said(cache_->touch(transaction, scope, row.now)), "ok");
    ASSERT_EQ(said(transaction.commit()), "ok");
    EXPECT_EQ(value(cache_->find_scope(pods))->last_used, row.remembered);
  }
}

TEST_F(CacheTest, LongBytesArePackedAndNobodyNotices) {
  const ScopeId scope = open();
  const std::vector<CachedObject> objects{object("ns", "a", std::string(5000, 'a')),
                                          object("ns", "b", "short")};
  EXPECT_EQ(value(replace(scope, objects)), (Replaced{2, 0, 0}));
  EXPECT_EQ(value(cache_->list(scope)), objects);
  EXPECT_EQ(value(cache_->size(scope)), (CacheSize{2, 5005})) << "counted unpacked";
  EXPECT_EQ(value(replace(scope, objects)), (Replaced{0, 2, 0})) << "unchanged";
  Statement kept = database_.prepare("SELECT length(bytes), packed FROM object ORDER BY name");
  Cursor row = kept.use();
  ASSERT_TRUE(value(row.next()));
  EXPECT_LT(row.integer(0), 500);
  EXPECT_EQ(row.integer(1), 5000);
  ASSERT_TRUE(value(row.next()));
  EXPECT_EQ(row.integer(0), 5);
  EXPECT_EQ(row.integer(1), 0);
}

TEST_F(CacheTest, AScribbledMarkOfPackingIsNoticed) {
  const ScopeId scope = open();
  for (const char* packed : {"0", "1", "4999", "5001", "1 << 40"}) {
    ASSERT_TRUE(replace(scope, {}));
    ASSERT_TRUE(replace(scope, {object("ns", "a", std::string(5000, 'a'))}));
    ASSERT_EQ(said(database_.execute(std::string("UPDATE object SET packed = ") + packed)), "ok");
    EXPECT_EQ(said(cache_->list(scope)), "corrupt: cached object ns/a fails its checksum");
  }
}

TEST_F(CacheTest, AnOlderProgramFindsNoPackedRows) {
  const ScopeId scope = open();
  ScopeKey other = pods;
  other.resource = "other";
  const ScopeId plain = open(other);
  ASSERT_TRUE(replace(scope, {object("ns", "a", std::string(5000, 'a')), object("ns", "b", "b")}));
  ASSERT_TRUE(replace(plain, {object("ns", "b", "b")}));
  const Migration& packed = cache_schema().migrations[3];
  ASSERT_EQ(said(database_.execute(packed.down)), "ok");
  ASSERT_EQ(said(database_.execute(packed.up)), "ok");
  EXPECT_FALSE(value(cache_->find_scope(pods))->complete) << "the scope must be listed again";
  EXPECT_EQ(value(cache_->size(scope)), (CacheSize{1, 1}));
  EXPECT_EQ(value(cache_->list(plain)), (std::vector{object("ns", "b", "b")}));
}

TEST_F(CacheTest, AnOlderProgramFindsTheVersionOfTheNewestObject) {
  const ScopeId scope = open();
  CachedObject newest = object("ns", "a", "a");
  newest.resource_version = "100";
  CachedObject older = object("ns", "b", "b");
  older.resource_version = "99";
  const Migration& packed = cache_schema().migrations[3];
  for (const auto& [row, expected] :
       {std::pair("7+", "100"), std::pair("101+", "101"), std::pair("7", "7"),
        std::pair("9223372036854775807+", "9223372036854775807")}) {
    ASSERT_TRUE(replace(scope, {newest, older}, row));
    ASSERT_EQ(said(database_.execute(packed.down)), "ok");
    EXPECT_EQ(value(cache_->find_scope(pods))->resource_version, expected);
    ASSERT_EQ(said(database_.execute(packed.up)), "ok");
  }
}

TEST_F(CacheTest, DamagedRowsAreNeverGivenOut) {
  for (const char* change : {"bytes = x'00'", "uid = ''", "resource_version = ''"}) {
    SCOPED_TRACE(change);
    const ScopeId scope = open();
    ASSERT_TRUE(replace(scope, {}));
    ASSERT_TRUE(replace(scope, {object("default", "a", "1")}));
    ASSERT_EQ(said(database_.execute("UPDATE object SET " + std::string(change))), "ok");
    EXPECT_EQ(said(cache_->list(scope)), "corrupt: cached object default/a fails its checksum");
  }
}

}  // namespace
}  // namespace holdfast::store
