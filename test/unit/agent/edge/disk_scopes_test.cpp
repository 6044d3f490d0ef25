// Scopes whose objects are only in cache.db: what is written, what is read, and what is lost.

#include <random>

#include "sync/watch/list_place.h"
#include "test/support/fault_vfs.h"
#include "test/unit/agent/edge/cache_run.h"

namespace holdfast::agent::cached::on_disk {
namespace {

using Objects = sync::watch::WatchCache::Objects;
using sync::watch::Body;

// No list of the tests fits into that.
constexpr sync::watch::CacheLimits small{.scope_bytes = 4000};

std::string loaded(const Body& body) {
  const auto bytes = body.load();
  return bytes ? (*bytes)->substr(0, 30) : std::string(to_string(bytes.error().code));
}

// `bytes` bytes that begin with the version.
sync::watch::CachedObject large(sync::objects::Version version, std::size_t bytes) {
  std::string text = "v" + std::to_string(version) + ".";
  text.resize(bytes, 'x');
  return {"u", version, std::make_shared<const std::string>(std::move(text))};
}

class DiskScopes : public testing::Test {
 protected:
  ~DiskScopes() override { test::follow({}); }

  // Receives a list in two pages, as a reflector does.
  Status list(Agent& run, const ScopePtr& scope, sync::objects::Version version,
              std::map<std::string, sync::objects::Version> all, std::size_t bytes = 3000) {
    ScopeRows::Part part;
    Objects objects;
    for (const bool second : {false, true}) {
      int count = 0;
      ScopeRows::ObjectRefs fresh;
      for (const auto& [name, of_object] : all) {
        if ((count++ % 2 == 1) != second) continue;
        sync::watch::CachedObject object = large(of_object, bytes);
        const auto* known = scope->cache().find(key(name));
        const bool is_same = known != nullptr && known->version == of_object;
        if (is_same) object.bytes = known->bytes;
        const auto [at, is_new] = objects.insert_or_assign(key(name), std::move(object));
        if (!is_same) fresh.emplace_back(at->first, &at->second);
      }
      if (Status written = run.content.write_part(*scope, part, fresh); !written) {
        run.content.drop_part(part);
        return written;
      }
    }
    Status done = run.content.replace(*scope, std::move(objects), version, kind_, &part);
    run.content.drop_part(part);
    return done;
  }

  // Receives one object of a list that goes on.
  static void begin_list(Agent& run, const ScopePtr& scope, ScopeRows::Part& part,
                         Objects& arrived) {
    arrived[key("a")] = large(10, 1000);
    ASSERT_TRUE(run.content.write_part(*scope, part, {{key("a"), &arrived[key("a")]}}));
  }

  static ScopePtr opened(Agent& run) {
    ScopePtr scope = run.scopes.open(configmaps).value();
    scope->set_keeps_on_disk(true);
    return scope;
  }

  // The state of each object's bytes: "a=v3 b=gone".
  static std::string read(const ScopePtr& scope) {
    std::string text;
    for (const auto& [name, object] : scope->cache().objects()) {
      const std::string bytes = loaded(object.bytes);
      text += name.name + "=" + bytes.substr(0, bytes.find('.')) + " ";
    }
    return text;
  }
  static bool is_in_memory(const ScopePtr& scope, const std::string& name) {
    return scope->cache().find(key(name))->bytes.is_in_memory();
  }

  const sync::wire::ScopeKind kind_{"ConfigMap", "v1"};
  test::ScratchDir dir_;
  test::VirtualTime time_;
};

TEST_F(DiskScopes, KeepNothingInMemoryThatIsWritten) {
  auto first = std::make_unique<Agent>(time_.context(), dir_.path(), small);
  Agent& run = *first;
  ScopePtr scope = opened(run);
  ASSERT_TRUE(list(run, scope, 9, {{"a", 3}, {"b", 4}, {"c", 5}}));
  EXPECT_EQ(shown(scope), "9: a@3 b@4 c@5");
  EXPECT_EQ(read(scope), "a=v3 b=v4 c=v5 ");
  EXPECT_FALSE(is_in_memory(scope, "a"));
  EXPECT_LE(run.table.memory_bytes(), 3 * 600u);

  ASSERT_TRUE(
      run.content.apply(*scope, {sync::watch::EventType::modified, key("b"), large(10, 2000)}));
  EXPECT_TRUE(is_in_memory(scope, "b")) << "until it is written";
  ASSERT_TRUE(run.scopes.flush());
  EXPECT_FALSE(is_in_memory(scope, "b"));
  EXPECT_EQ(read(scope), "a=v3 b=v10 c=v5 ");

  ASSERT_TRUE(list(run, scope, 20, {{"a", 3}, {"b", 15}, {"d", 16}}));
  ASSERT_TRUE(run.scopes.flush());
  EXPECT_EQ(read(scope), "a=v3 b=v15 d=v16 ");

  scope.reset();
  first.reset();
  Agent next(time_.context(), dir_.path(), sync::watch::CacheLimits{.scope_bytes = 2000});
  const ScopePtr restored = next.table.find(configmaps);
  EXPECT_EQ(shown(restored), "20: a@3 b@15 d@16");
  EXPECT_TRUE(restored->keeps_on_disk()) << "as it does not fit into memory";
  EXPECT_EQ(read(restored), "a=v3 b=v15 d=v16 ");
  EXPECT_LE(next.table.memory_bytes(), 3 * 600u);
}

TEST_F(DiskScopes, WhatIsStillReadIsTakenBackBeforeItIsReplaced) {
  Agent run(time_.context(), dir_.path(), sync::watch::CacheLimits{.scope_bytes = 1 << 20});
  const ScopePtr scope = opened(run);
  // Of 3 MiB each: two fit into what is taken back.
  constexpr std::size_t mebibytes = 3UL << 20;
  static_assert(2 * mebibytes <= sync::watch::taken_back_max &&
                3 * mebibytes > sync::watch::taken_back_max);
  ASSERT_TRUE(list(run, scope, 9, {{"a", 3}, {"b", 3}, {"c", 3}, {"d", 3}}, mebibytes));
  std::vector<Body> reader;
  for (const auto& [name, object] : scope->cache().objects()) {
    if (name.name != "d") reader.push_back(object.bytes);
  }
  for (const char* name : {"a", "b", "c", "d"}) {
    ASSERT_TRUE(run.content.apply(*scope, {sync::watch::EventType::modified, key(name),
                                           large(scope->cache().version() + 1, 1000)}));
  }
  ASSERT_TRUE(run.scopes.flush());
  std::vector<std::string> states;
  for (const Body& each : reader) states.push_back(loaded(each).substr(0, 3));
  EXPECT_EQ(states, (std::vector<std::string>{"v3.", "v3.", "gon"}));
  EXPECT_EQ(read(scope), "a=v10 b=v11 c=v12 d=v13 ");
  // Once they are read, there is room again.
  reader.assign(1, scope->cache().find(key("a"))->bytes);
  ASSERT_TRUE(
      run.content.apply(*scope, {sync::watch::EventType::deleted, key("a"), large(20, 1000)}));
  ASSERT_TRUE(run.scopes.flush());
  EXPECT_EQ(loaded(reader[0]).substr(0, 4), "v10.");
}

TEST_F(DiskScopes, AListThatCouldNotBeFinishedIsFinishedLater) {
  test::follow({});
  auto first = std::make_unique<Agent>(time_.context(), dir_.path(), small, "fault");
  Agent& run = *first;
  ScopePtr scope = opened(run);
  ASSERT_TRUE(list(run, scope, 9, {{"a", 3}, {"b", 4}}));
  ScopeRows::Part part;
  Objects objects;
  objects[key("a")] = scope->cache().objects().at(key("a"));
  objects[key("c")] = large(12, 1000);
  ASSERT_TRUE(run.content.write_part(*scope, part, {{key("c"), &objects[key("c")]}}));
  test::follow({.fail_from = 1});
  ASSERT_TRUE(run.content.replace(*scope, objects, 12, kind_, &part));
  EXPECT_FALSE(run.scopes.flush());
  EXPECT_EQ(shown(scope), "12: a@3 c@12");
  EXPECT_EQ(read(scope), "a=v3 c=v12 ") << "from the part";
  EXPECT_FALSE(list(run, scope, 15, {{"a", 3}, {"c", 12}, {"d", 14}})) << "the disk is full";
  EXPECT_EQ(shown(scope), "12: a@3 c@12");
  test::follow({});
  ASSERT_TRUE(list(run, scope, 15, {{"a", 3}, {"c", 12}, {"d", 14}}));
  ASSERT_TRUE(run.scopes.flush());
  EXPECT_EQ(read(scope), "a=v3 c=v12 d=v14 ");
  scope.reset();
  first.reset();
  Agent next(time_.context(), dir_.path(), sync::watch::CacheLimits{.scope_bytes = 2000});
  EXPECT_EQ(read(next.table.find(configmaps)), "a=v3 c=v12 d=v14 ");
}

TEST_F(DiskScopes, AListThatNeverEndsLeavesTheOldOne) {
  {
    Agent run(time_.context(), dir_.path(), small);
    const ScopePtr scope = opened(run);
    ASSERT_TRUE(list(run, scope, 9, {{"a", 3}, {"b", 4}}));
    ScopeRows::Part part;
    Objects fresh;
    begin_list(run, scope, part, fresh);
    EXPECT_EQ(read(scope), "a=v3 b=v4 ");
  }
  Agent next(time_.context(), dir_.path(), sync::watch::CacheLimits{.scope_bytes = 1500});
  EXPECT_EQ(shown(next.table.find(configmaps)), "9: a@3 b@4");
  EXPECT_EQ(next.table.all().size(), 1u);
  EXPECT_EQ(next.file->run([](CacheFile::Tables& tables) { return tables.cache.size(); })->objects,
            2);
}

TEST_F(DiskScopes, AFirstListThatFailsLeavesNothing) {
  {
    Agent run(time_.context(), dir_.path(), small);
    const ScopePtr scope = opened(run);
    ScopeRows::Part part;
    Objects fresh;
    begin_list(run, scope, part, fresh);
    run.content.drop_part(part);
    ASSERT_TRUE(run.scopes.drop(*scope));
  }
  Agent next(time_.context(), dir_.path(), small);
  EXPECT_EQ(next.table.all().size(), 0u);
}

// In the new file the ids of the old one mean other scopes.
TEST_F(DiskScopes, AListIsNotTakenFromAFileThatWasReplaced) {
  Agent run(time_.context(), dir_.path(), small);
  const ScopePtr scope = opened(run);
  ScopeRows::Part part;
  Objects fresh;
  begin_list(run, scope, part, fresh);
  ASSERT_TRUE(run.file->replace({Errc::corrupt, "damaged on purpose"}));
  for (int i = 0; i < 3; ++i) {
    store::ScopeKey where = pods;
    where.namespace_name = "ns" + std::to_string(i);
    const ScopePtr other = run.scopes.open(where).value();
    ASSERT_TRUE(run.content.replace(*other, objects({{"p", 3}}), 9, pod_kind));
  }
  const Status later = run.content.write_part(*scope, part, {{key("b"), &fresh[key("b")]}});
  ASSERT_FALSE(later);
  EXPECT_EQ(later.error().code, Errc::gone);
  const Status done = run.content.replace(*scope, fresh, 10, kind_, &part);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Errc::gone);
  run.content.drop_part(part);
  ASSERT_TRUE(run.scopes.flush());
  const auto size = run.file->run([](CacheFile::Tables& tables) { return tables.cache.size(); });
  EXPECT_EQ(size->objects, 3) << "those of the others";
}

// A list that is in the file only is lost with it.
TEST_F(DiskScopes, AReplacedFileCostsTheLists) {
  Agent run(time_.context(), dir_.path(), small);
  const ScopePtr scope = opened(run);
  ASSERT_TRUE(list(run, scope, 9, {{"a", 3}, {"b", 4}}));
  ASSERT_TRUE(
      run.content.apply(*scope, {sync::watch::EventType::modified, key("b"), large(10, 2000)}));
  ASSERT_TRUE(run.file->replace({Errc::corrupt, "damaged on purpose"}));
  EXPECT_EQ(read(scope), "a=gone b=v10 ");
  ASSERT_TRUE(run.scopes.flush());
  EXPECT_EQ(run.table.find(configmaps), nullptr);
  EXPECT_TRUE(scope->is_detached());
  const auto rows = run.file->run([](CacheFile::Tables& tables) { return tables.cache.scopes(); });
  EXPECT_EQ(rows->size(), 0u) << "not even an empty one";
}

TEST_F(DiskScopes, ManyListsDoNotFillTheFile) {
  constexpr std::int64_t disk = 16 << 20;
  Agent run(time_.context(), dir_.path(),
            sync::watch::CacheLimits{.disk_bytes = disk, .scope_bytes = 1 << 20});
  std::mt19937 random(1);
  int refused = 0;
  for (int i = 0; i < 12; ++i) {
    store::ScopeKey where = configmaps;
    where.namespace_name = "ns" + std::to_string(i);
    const ScopePtr scope = run.scopes.open(where).value();
    scope->set_keeps_on_disk(true);
    ScopeRows::Part part;
    std::string noise(2 << 20, ' ');
    for (char& each : noise) each = static_cast<char>(random() % 256);
    Objects all;
    all[key("a")] = {"u", 5, std::make_shared<const std::string>(std::move(noise))};
    const Status written = run.content.write_part(*scope, part, {{key("a"), &all[key("a")]}});
    if (written) {
      EXPECT_TRUE(run.content.replace(*scope, std::move(all), 5, kind_, &part));
      EXPECT_TRUE(run.scopes.flush());
    } else {
      EXPECT_EQ(written.error().code, Errc::exhausted) << written.error().what;
      ++refused;
    }
  }
  EXPECT_GT(refused, 3);
  // A quarter is left for everything else.
  const ScopePtr other = run.scopes.open(pods).value();
  EXPECT_TRUE(run.content.replace(*other, objects({{"p", 3}}), 9, pod_kind));
  EXPECT_TRUE(run.scopes.flush());
}

TEST_F(DiskScopes, LocalWritesAreSettled) {
  Agent run(time_.context(), dir_.path(), small);
  const ScopePtr scope = opened(run);
  ASSERT_TRUE(list(run, scope, 9, {{"a", 3}, {"b", 4}}));
  sync::watch::CacheEvent mine{sync::watch::EventType::modified, key("a"), large(local + 1, 1000)};
  run.content.apply_local(*scope, mine);
  ASSERT_TRUE(run.scopes.flush());
  EXPECT_EQ(read(scope), "a=v" + std::to_string(local + 1) + " b=v4 ");
  ASSERT_TRUE(run.content.settle(*scope, {}));
  ASSERT_TRUE(run.scopes.flush());
  EXPECT_EQ(read(scope), "a=v3 b=v4 ") << "as the server had shown it";
  EXPECT_FALSE(is_in_memory(scope, "a"));
}

TEST_F(DiskScopes, ADamagedRowCostsItsScopeOnly) {
  Agent run(time_.context(), dir_.path(), small);
  const ScopePtr scope = opened(run);
  ASSERT_TRUE(list(run, scope, 9, {{"a", 3}, {"b", 4}}));
  const ScopePtr other = run.scopes.open(pods).value();
  ASSERT_TRUE(run.content.replace(*other, objects({{"p", 3}}), 9, pod_kind));
  ASSERT_TRUE(run.file->database().execute("UPDATE object SET uid = 'x' WHERE name = 'b'"));
  EXPECT_EQ(read(scope), "a=v3 b=corrupt ");
  ASSERT_TRUE(run.scopes.flush());
  EXPECT_EQ(run.table.find(configmaps), nullptr) << "it is listed again";
  EXPECT_TRUE(scope->is_detached());
  EXPECT_EQ(shown(run.table.find(pods)), "9: p@3");
}

TEST_F(DiskScopes, AListWhoseRowsHaveVanishedIsListedAgain) {
  Agent run(time_.context(), dir_.path(), small);
  const ScopePtr scope = opened(run);
  ASSERT_TRUE(list(run, scope, 9, {{"a", 3}}));
  ScopeRows::Part part;
  Objects objects;
  objects[key("a")] = scope->cache().objects().at(key("a"));
  objects[key("b")] = large(12, 1000);
  ASSERT_TRUE(run.content.write_part(*scope, part, {{key("b"), &objects[key("b")]}}));
  ASSERT_TRUE(run.file->database().execute("DELETE FROM object WHERE name = 'b'"));
  ASSERT_TRUE(run.content.replace(*scope, objects, 12, kind_, &part));
  const Status flushed = run.scopes.flush();
  EXPECT_EQ(flushed.error().what, "write /api/v1/configmaps: the file has 1 of 2 objects");
  ASSERT_TRUE(run.scopes.flush()) << "it is not tried for ever";
  EXPECT_EQ(run.table.find(configmaps), nullptr);
}

TEST_F(DiskScopes, OneThatHasBecomeSmallReturnsToMemory) {
  auto first = std::make_unique<Agent>(time_.context(), dir_.path(), small);
  Agent& run = *first;
  ScopePtr scope = opened(run);
  ASSERT_TRUE(list(run, scope, 9, {{"a", 3}, {"b", 4}, {"c", 5}}, 1000));
  EXPECT_TRUE(scope->keeps_on_disk()) << "4,200 bytes with their overhead";
  ASSERT_TRUE(list(run, scope, 20, {{"a", 3}, {"b", 15}}, 1000));
  EXPECT_FALSE(scope->keeps_on_disk());
  EXPECT_TRUE(is_in_memory(scope, "a")) << "which was in the old rows";
  EXPECT_TRUE(is_in_memory(scope, "b")) << "which was in the new ones";
  EXPECT_EQ(scope->object_memory(), 2 * 1400u);
  ScopeRows::Part part;
  EXPECT_FALSE(run.content.write_part(*scope, part, {})) << "a page of a list that still arrives";
  ASSERT_TRUE(
      run.content.apply(*scope, {sync::watch::EventType::modified, key("b"), large(30, 900)}));
  ASSERT_TRUE(run.scopes.flush());
  EXPECT_EQ(read(scope), "a=v3 b=v30 ");
  scope.reset();
  first.reset();
  Agent next(time_.context(), dir_.path(), small);
  EXPECT_EQ(read(next.table.find(configmaps)), "a=v3 b=v30 ");
}

TEST_F(DiskScopes, WhatCannotBeTakenBackCostsItsScope) {
  Agent run(time_.context(), dir_.path(), small);
  const ScopePtr scope = opened(run);
  ASSERT_TRUE(list(run, scope, 9, {{"a", 3}, {"b", 4}, {"c", 5}}, 1000));
  ASSERT_TRUE(run.file->database().execute("DELETE FROM object WHERE name = 'a'"));
  ASSERT_TRUE(list(run, scope, 20, {{"a", 3}, {"b", 15}}, 1000)) << "small enough for memory";
  (void)run.scopes.flush();
  EXPECT_EQ(run.table.find(configmaps), nullptr) << "it is listed again";
}

TEST_F(DiskScopes, AnotherCallersListNeverGoesToTheDiskAlone) {
  {
    Agent run(time_.context(), dir_.path());
    for (const char* owner : {"node", "token:a"}) {
      store::ScopeKey where = configmaps;
      where.owner = owner;
      Objects all;
      all[key("a")] = large(5, 30'000);
      EXPECT_TRUE(run.content.replace(*run.scopes.open(where).value(), std::move(all), 5, kind_));
    }
  }
  const sync::watch::CacheLimits limits{.scope_bytes = 20'000};
  EXPECT_FALSE(limits.may_keep_on_disk("token:a"));
  Agent run(time_.context(), dir_.path(), limits);
  ASSERT_EQ(run.table.all().size(), 1u);
  EXPECT_TRUE(run.table.find(configmaps)->keeps_on_disk());
  EXPECT_EQ(read(run.table.find(configmaps)), "a=v5 ");
}

}  // namespace
}  // namespace holdfast::agent::cached::on_disk
