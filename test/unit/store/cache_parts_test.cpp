// Lists that are written while they arrive, in parts that become the scope.

#include "store/cache.h"
#include "test/unit/store/outcome.h"

namespace holdfast::store {
namespace {

using namespace std::chrono_literals;

const ScopeKey maps{"node", "", "v1", "configmaps", "", "", "", "json"};
const ScopeKey others{"node", "", "v1", "secrets", "", "", "", "json"};

CachedObject map_of(const std::string& name, const std::string& version) {
  return {{"ns", name}, "uid-" + name, version, 0, name + "@" + version};
}

// Keeps the name beside the bytes.
struct NamedSeal final : Seal {
  [[nodiscard]] std::string seal(std::string_view plain, std::string_view name) const override {
    return std::string(name) + "|" + std::string(plain);
  }
  [[nodiscard]] Result<std::string> open(std::string_view sealed,
                                         std::string_view name) const override {
    if (!sealed.starts_with(std::string(name) + "|")) return fail(Errc::denied, "another name");
    return std::string(sealed.substr(name.size() + 1));
  }
};

class CachePartsTest : public testing::Test {
 protected:
  // Runs an operation in a transaction of its own.
  template <class Operation>
  auto with(const Operation& operation) {
    Transaction transaction = value(database_.begin());
    auto done = operation(transaction);
    EXPECT_TRUE(transaction.commit());
    if constexpr (std::is_same_v<decltype(done), Status>) {
      return said(done);
    } else {
      return value(std::move(done));
    }
  }

  CachePartsTest() {
    EXPECT_EQ(said(migrate(database_, cache_schema())), "ok");
    cache_.emplace(database_);
    scope_ = with([this](const Transaction& in) -> Result<ScopeId> {
      TRY(const Scope opened, cache_->open_scope(in, maps, WallTime{12h}));
      return opened.id;
    });
  }

  ScopeId part_of(const std::vector<CachedObject>& objects) {
    const ScopeId part = with(
        [this](const Transaction& in) { return cache_->begin_part(in, scope_, WallTime{15h}); });
    const auto object_at = [&objects](std::size_t i) { return objects.at(i); };
    EXPECT_EQ(with([&](const Transaction& in) {
                return cache_->put_part(in, scope_, part, objects.size(), object_at);
              }),
              "ok");
    return part;
  }

  ScopeId adopt(ScopeId part) {
    return with([&](const Transaction& in) { return cache_->adopt_part(in, scope_, part); });
  }

  // As an adopted list is finished: objects that are not named are removed.
  std::string finish(ScopeId scope, const std::vector<std::string>& names,
                     const std::string& version) {
    std::vector<ObjectName> all;
    for (const std::string& name : names) all.push_back({"ns", name});
    return with([&](const Transaction& in) -> Status {
      const auto stays = [](std::size_t) { return std::nullopt; };
      auto done = cache_->replace_all(in, scope, version, all, stays);
      return done ? Status() : fail(done.error());
    });
  }

  std::string listed(ScopeId scope) {
    const auto all = cache_->list(scope);
    if (!all) return said(all);
    std::string text;
    for (const CachedObject& each : *all) text += each.bytes + " ";
    return text;
  }

  std::string row_count() {
    Statement rows = database_.prepare("SELECT count(*) FROM object");
    Cursor row = rows.use();
    EXPECT_TRUE(value(row.next()));
    return std::to_string(row.integer(0));
  }

  Database database_ = Database::in_memory();
  std::optional<Cache> cache_;
  ScopeId scope_{};
};

TEST_F(CachePartsTest, AFirstListBecomesTheScope) {
  const ScopeId part = part_of({map_of("a", "1"), map_of("b", "2")});
  EXPECT_EQ(listed(scope_), "unavailable: the scope was never completely received");
  const ScopeId now = adopt(part);
  EXPECT_EQ(now, part) << "no row was written twice";
  EXPECT_EQ(finish(now, {"a", "b"}, "7"), "ok");
  EXPECT_EQ(listed(now), "a@1 b@2 ");
  EXPECT_EQ(value(cache_->scopes()), (std::vector<Scope>{{now, maps, "7", true, WallTime{12h}}}));
  EXPECT_EQ(value(cache_->find_scope(maps))->id, now);
  EXPECT_EQ(row_count(), "2");
}

TEST_F(CachePartsTest, ALaterListReplacesWhatHasChanged) {
  scope_ = adopt(part_of({map_of("a", "1"), map_of("b", "2"), map_of("c", "3"), map_of("e", "4")}));
  ASSERT_EQ(finish(scope_, {"a", "b", "c", "e"}, "7"), "ok");
  const ScopeId part = part_of({map_of("b", "8"), map_of("d", "9")});
  EXPECT_EQ(listed(scope_), "a@1 b@2 c@3 e@4 ") << "until it is adopted";
  EXPECT_EQ(adopt(part), scope_);
  EXPECT_EQ(finish(scope_, {"a", "b", "d"}, "10"), "ok");
  EXPECT_EQ(listed(scope_), "a@1 b@8 d@9 ");
  EXPECT_EQ(row_count(), "3");
  EXPECT_EQ(value(cache_->scopes()).size(), 1u);
}

TEST_F(CachePartsTest, APartWithMostObjectsBecomesTheScope) {
  scope_ = adopt(part_of({map_of("a", "1"), map_of("b", "2"), map_of("c", "3")}));
  ASSERT_EQ(finish(scope_, {"a", "b", "c"}, "7"), "ok");
  const ScopeId part = part_of({map_of("b", "8"), map_of("c", "9")});
  const ScopeId now = adopt(part);
  EXPECT_EQ(now, part) << "one row was moved instead of two";
  EXPECT_EQ(listed(now), "a@1 b@8 c@9 ");
  EXPECT_EQ(value(cache_->scopes()), (std::vector<Scope>{{now, maps, "7", true, WallTime{12h}}}));
  EXPECT_EQ(finish(now, {"a", "b"}, "10"), "ok");
  EXPECT_EQ(listed(now), "a@1 b@8 ");
  EXPECT_EQ(row_count(), "2");
  EXPECT_EQ(value(cache_->find_scope(maps))->id, now);
}

TEST_F(CachePartsTest, TwoListsMayWaitToBeAdopted) {
  const ScopeId first = part_of({map_of("a", "1"), map_of("b", "2")});
  const ScopeId second = part_of({map_of("b", "8")});
  scope_ = adopt(first);
  scope_ = adopt(second);
  ASSERT_EQ(finish(scope_, {"a", "b"}, "9"), "ok");
  EXPECT_EQ(listed(scope_), "a@1 b@8 ");
}

TEST_F(CachePartsTest, PartsAreNotShownAndACrashLeavesNone) {
  const ScopeId part = part_of({map_of("a", "1")});
  part_of({map_of("a", "2")});
  EXPECT_EQ(value(cache_->scopes()).size(), 1u);
  // A statement of its own, as after a restart.
  cache_.emplace(database_);
  EXPECT_EQ(with([this](const Transaction& in) { return cache_->drop_parts(in); }), "ok");
  EXPECT_EQ(row_count(), "0");
  Transaction in = value(database_.begin());
  EXPECT_EQ(said(cache_->adopt_part(in, scope_, part)),
            "not_found: cache scope " + std::to_string(static_cast<std::int64_t>(part)));
  EXPECT_EQ(said(cache_->begin_part(in, ScopeId{99}, WallTime{})), "not_found: cache scope 99");
  EXPECT_EQ(said(cache_->put_part(in, ScopeId{99}, part, 0, {})), "not_found: cache scope 99");
}

TEST_F(CachePartsTest, OneObjectIsFoundInAScopeAndInAPart) {
  const ScopeId part = part_of({map_of("a", "1")});
  EXPECT_EQ(value(cache_->find(maps, part, {"ns", "a"})), map_of("a", "1"));
  EXPECT_EQ(value(cache_->find(maps, part, {"ns", "b"})), std::nullopt);
  EXPECT_EQ(value(cache_->find(maps, scope_, {"ns", "a"})), std::nullopt);
  ASSERT_TRUE(database_.execute("UPDATE object SET bytes = x'00' WHERE name = 'a'"));
  EXPECT_EQ(said(cache_->find(maps, part, {"ns", "a"})),
            "corrupt: cached object ns/a fails its checksum");
}

TEST_F(CachePartsTest, SealedRowsBelongToTheScopeThatTheyBecome) {
  const NamedSeal seal;
  const auto all = [](const ScopeKey&) { return true; };
  cache_.emplace(database_, Sealing{.seal = &seal, .objects_of = all});
  const ScopeId part = part_of({map_of("a", "1")});
  EXPECT_EQ(value(cache_->find(maps, part, {"ns", "a"}))->bytes, "a@1");
  EXPECT_FALSE(cache_->find(others, part, {"ns", "a"})) << "the name of another scope";
  scope_ = adopt(part);
  ASSERT_EQ(finish(scope_, {"a"}, "7"), "ok");
  EXPECT_EQ(listed(scope_), "a@1 ");
}

}  // namespace
}  // namespace holdfast::store
