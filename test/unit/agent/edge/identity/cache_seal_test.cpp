// The cache's key: valid and invalid key files, and a cache that was sealed with another key.

#include "agent/edge/identity/cache_seal.h"

#include <sys/stat.h>

#include "agent/ctl/rekey.h"
#include "agent/edge/cache/scope_content.h"
#include "platform/fs/file.h"
#include "platform/text.h"
#include "store/recover.h"
#include "test/support/scratch_dir.h"
#include "test/support/virtual_time.h"

namespace holdfast::agent {
namespace {

class CacheSealTest : public testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& content) {
    const std::string path = (dir_.path() / name).string();
    EXPECT_TRUE(fs::atomic_write(path, content));
    return path;
  }
  std::string data_dir() { return dir_.path().string(); }

  // Runs an agent with this key. Caches a Secret if `bytes` is not empty. Returns the cached
  // content, or "none" if the scope is not complete.
  std::string run(const std::string& key_file, const std::string& bytes = {}) {
    std::unique_ptr<store::Seal> seal;
    if (!key_file.empty()) seal = read_cache_key(key_file).value();
    test::VirtualTime time;
    const auto file =
        CacheFile::open(dir_.path() / "cache.db", time.clock(), sealing_with(seal.get())).value();
    StoredAnswers answers(*file, time.clock());
    ScopeTable table(time.executor(), time.clock(), {.scopes = 10});
    Scopes scopes(table, *file, answers, time.clock());
    ScopeContent content(table, scopes, answers, time.clock());
    EXPECT_TRUE(scopes.restore());
    const ScopePtr scope =
        scopes.open({.owner = "node", .version = "v1", .resource = "secrets"}).value();
    if (!bytes.empty()) {
      sync::watch::WatchCache::Objects objects;
      objects[{"ns", "s"}] = {"uid", 7, std::make_shared<const std::string>(bytes)};
      (void)content.replace(*scope, std::move(objects), 7, {"Secret", "v1"});
      EXPECT_TRUE(scopes.flush());
    }
    if (!scope->cache().complete()) return "none";
    const sync::watch::CachedObject* found = scope->cache().find({"ns", "s"});
    return found == nullptr ? "empty" : **found->bytes.load();
  }

  test::ScratchDir dir_;
  const std::string first = file("first.key", std::string(32, 'a'));
  const std::string second = file("second.key", base64_encode(std::string(32, 'b')) + "\n");
};

TEST_F(CacheSealTest, ABadKeyFileIsNamedAndNothingOfItTold) {
  const std::string bad = file("bad.key", "my bad secret");
  const auto refused = read_cache_key(bad);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::invalid);
  EXPECT_NE(refused.error().what.find(bad), std::string::npos) << refused.error().what;
  EXPECT_EQ(refused.error().what.find("my bad secret"), std::string::npos);
  const auto missing = read_cache_key(bad + ".none");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Errc::not_found);
  EXPECT_NE(missing.error().what.find(bad + ".none"), std::string::npos) << missing.error().what;
}

TEST_F(CacheSealTest, AKeyThatOthersMayReadIsRefused) {
  ASSERT_EQ(::chmod(first.c_str(), 0644), 0);
  const auto refused = read_cache_key(first);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::denied);
  EXPECT_EQ(refused.error().what, "cache key: " + first +
                                      " has mode 0644: others may read this secret; run: chmod "
                                      "600 " +
                                      first);
  ASSERT_EQ(::chmod(first.c_str(), 0400), 0);
  EXPECT_TRUE(read_cache_key(first));
}

TEST_F(CacheSealTest, AllKindsAreSealedButThoseOfKubernetesWithoutSecrets) {
  const store::Sealing sealing = sealing_with(nullptr);
  const struct {
    std::string group;
    std::string resource;
    bool sealed;
  } rows[] = {{"", "nodes", false},
              {"", "services", false},
              {"coordination.k8s.io", "leases", false},
              {"", "secrets", true},
              {"", "configmaps", true},
              {"", "pods", true},
              {"apps", "deployments", true},
              {"serving.knative.dev", "services", true},
              {"longhorn.io", "nodes", true}};
  for (const auto& row : rows) {
    const store::ScopeKey scope{.group = row.group, .version = "v1", .resource = row.resource};
    EXPECT_EQ(sealing.objects_of(scope), row.sealed) << row.group << "/" << row.resource;
  }
}

TEST_F(CacheSealTest, AWrongKeyMakesTheCacheAbsentAndNeverWrong) {
  EXPECT_EQ(run(first, "{\"secret\":1}"), "{\"secret\":1}");
  EXPECT_EQ(run(first), "{\"secret\":1}");
  EXPECT_EQ(run(second), "none");
  EXPECT_EQ(run(""), "none");
  EXPECT_EQ(run(first), "{\"secret\":1}") << "opening it with another key does no harm";
  EXPECT_EQ(run(second, "{\"secret\":2}"), "{\"secret\":2}") << "the cache fills again";
  EXPECT_EQ(run(second), "{\"secret\":2}");
  EXPECT_EQ(run(first), "none");
}

TEST_F(CacheSealTest, RekeyTurnsOneKeyIntoAnother) {
  EXPECT_EQ(run(first, "{\"secret\":1}"), "{\"secret\":1}");
  const auto wrong = rekey({data_dir(), second, second});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, Errc::denied);
  EXPECT_TRUE(wrong.error().what.starts_with("nothing was changed")) << wrong.error().what;
  EXPECT_EQ(run(first), "{\"secret\":1}");
  const auto done = rekey({data_dir(), first, second});
  ASSERT_TRUE(done) << done.error().what;
  EXPECT_TRUE(done->starts_with("1 objects and 0 tokens")) << *done;
  EXPECT_EQ(run(first), "none");
  EXPECT_EQ(run(second), "{\"secret\":1}");
}

TEST_F(CacheSealTest, RekeySealsWhatWasPlain) {
  EXPECT_EQ(run("", "{\"secret\":1}"), "{\"secret\":1}");
  ASSERT_TRUE(rekey({data_dir(), "", first}));
  EXPECT_EQ(run(""), "none");
  EXPECT_EQ(run(first), "{\"secret\":1}");
}

TEST_F(CacheSealTest, RekeyRefusesWhatItCannotDo) {
  EXPECT_EQ(rekey({data_dir(), first, ""}).error().code, Errc::invalid);
  EXPECT_EQ(rekey({data_dir(), first, second}).error().code, Errc::not_found) << "nothing there";
  EXPECT_EQ(run(first, "{\"secret\":1}"), "{\"secret\":1}");
  const auto lock = fs::FileLock::take(dir_.path() / "lock");
  ASSERT_TRUE(lock);
  const auto running = rekey({data_dir(), first, second});
  ASSERT_FALSE(running);
  EXPECT_EQ(running.error().code, Errc::conflict);
  EXPECT_TRUE(running.error().what.starts_with("stop the agent first")) << running.error().what;
}

}  // namespace
}  // namespace holdfast::agent
