// A flash that damages the cache. What is in memory goes into a new file, so that a restart without
// the cloud still finds it.

#include <gtest/gtest.h>

#include "platform/random.h"
#include "platform/text.h"
#include "test/support/captured_log.h"
#include "test/unit/agent/edge/cache_run.h"
#include "test/unit/agent/edge/uplink/damage.h"
#include "test/unit/agent/edge/uplink/uplink_fixture.h"

namespace holdfast::agent::uplink::damaged_cache {
namespace {

using namespace damaged;
using sync::autonomy::LinkState;

constexpr const char* pods = "/api/v1/namespaces/a/pods";
constexpr const char* our_pods = "/api/v1/pods?fieldSelector=spec.nodeName%3Dedge1";
constexpr const char* token_path = "/api/v1/namespaces/a/serviceaccounts/default/token";
constexpr int number_of_pods = 30;

http::Request token_request(int number) {
  return {.method = http::Method::post,
          .target = token_path,
          .headers = {{"User-Agent", "kubelet/v1"}, {"Content-Type", "application/json"}},
          .body = R"({"kind":"TokenRequest","apiVersion":"authentication.k8s.io/v1","spec":{)"
                  R"("audiences":null,"expirationSeconds":3607,"boundObjectRef":{"kind":"Pod",)"
                  R"("apiVersion":"v1","name":")" +
                  name_of(number) + R"(","uid":"uid-)" + name_of(number) + "\"}}}"};
}

std::optional<http::Response> issue_token(const http::Request& request) {
  if (request.path() != token_path) return std::nullopt;
  std::string body = request.body;
  body.pop_back();
  body += R"(,"status":{"token":"secret","expirationTimestamp":"2030-01-01T00:00:00Z"}})";
  return http::Response{
      .status = 201, .headers = {{"Content-Type", "application/json"}}, .body = std::move(body)};
}

// An agent that knows thirty pods, which are not compressible and larger than SQLite's cache of
// pages, and a token for each.
struct DamagedCache : testing::Test {
  DamagedCache() {
    fixture.servers[0]->special = issue_token;
    Random random(7);
    const std::string noise = random.text(50'000, "abcdefghijklmnopqrstuvwxyz0123456789");
    for (int number = 0; number < number_of_pods; ++number) {
      const auto at = static_cast<std::size_t>(number) * 1'000;
      fixture.cloud.put(pods, name_of(number),
                        R"({"metadata":{"annotations":{"noise":")" + noise.substr(at, 20'000) +
                            R"("}},"spec":{"nodeName":"edge1","serviceAccountName":"default",)"
                            R"("volumes":[{"name":"t","projected":{"sources":[)"
                            R"({"serviceAccountToken":{"path":"token"}}]}}]},)"
                            R"("status":{"phase":"Running"}})");
    }
    EXPECT_TRUE(fixture.until(LinkState::connected));
    EXPECT_EQ(fixture.ask(our_pods).status, 200);
    for (int number = 0; number < number_of_pods; ++number) {
      EXPECT_EQ(fixture.ask(token_request(number)).status, 201);
    }
    fixture.time.run(1min);
  }

  [[nodiscard]] std::filesystem::path file() const {
    return std::filesystem::path(fixture.options.data_dir) / "cache.db";
  }
  void damage_all() {
    damage(file(), 0, 100 << 20);
    damage(file().string() + "-wal", 0, 100 << 20);
  }

  // How many pods the agent's list has; -1 if it has none.
  int listed() {
    const http::Response answer = fixture.ask(std::string(our_pods) + "&resourceVersion=0");
    if (answer.status != 200) return -1;
    const auto list = sync::wire::parse_json(answer.body).value();
    return static_cast<int>(list.at("items").as_array().size());
  }
  int tokens() {
    int given = 0;
    for (int number = 0; number < number_of_pods; ++number) {
      if (fixture.ask(token_request(number)).status == 201) ++given;
    }
    return given;
  }
  [[nodiscard]] int arrived(const std::string& word) const {
    int count = 0;
    for (int number = 0; number < number_of_pods; ++number) {
      if (fixture.cloud.object(pods, name_of(number)).find(word) != std::string::npos) ++count;
    }
    return count;
  }

  UplinkFixture fixture;
};

TEST_F(DamagedCache, IsWrittenAnewFromMemoryWhileTheAgentRuns) {
  for (const bool connected : {false, true}) {
    SCOPED_TRACE(connected ? "connected" : "offline");
    test::CapturedLog log;
    if (!connected) fixture.cut_link();
    damage_all();
    const std::string word = connected ? "second" : "first";
    for (int number = 0; number < number_of_pods; ++number) {
      EXPECT_EQ(fixture.ask(status_of(number, word)).status, 200);
    }
    fixture.time.run(1min);
    if (connected) fixture.cut_link();
    fixture.stop();
    EXPECT_NE(log.take().find("error cache was damaged: file kept, new cache created"),
              std::string::npos);
    EXPECT_EQ(kept_files(fixture.options.data_dir, "cache.db"), connected ? 2 : 1);
    fixture.start();
    fixture.time.run(1s);
    EXPECT_EQ(listed(), number_of_pods) << "after a restart without the cloud";
    EXPECT_NE(fixture.ask(std::string(pods) + "/p7").body.find(word), std::string::npos);
    fixture.restore_link();
    fixture.time.run(1min);
    EXPECT_EQ(arrived(word), number_of_pods);
    EXPECT_EQ(listed(), number_of_pods);
  }
}

TEST_F(DamagedCache, AFileThatIsRemovedCostsNothing) {
  fixture.cut_link();
  const std::filesystem::path dir = fixture.options.data_dir;
  const auto write = [this](const std::string& word) {
    for (int number = 0; number < number_of_pods; ++number) {
      EXPECT_EQ(fixture.ask(status_of(number, word)).status, 200);
    }
  };
  write("before");
  for (const char* name : {"cache.db", "cache.db-wal", "outbox.db", "outbox.db-wal"}) {
    EXPECT_TRUE(std::filesystem::remove(dir / name)) << name;
  }
  EXPECT_EQ(fixture.ask(status_of(0, "after")).status, 200);
  fixture.time.run(1min);
  fixture.stop();
  fixture.start();
  fixture.time.run(1s);
  EXPECT_EQ(listed(), number_of_pods);
  EXPECT_EQ(tokens(), number_of_pods);
  fixture.restore_link();
  fixture.time.run(1min);
  EXPECT_EQ(arrived("before"), number_of_pods - 1);
  EXPECT_EQ(arrived("after"), 1);
}

// Otherwise a restart would be the first to read the damaged place.
TEST_F(DamagedCache, IsNoticedByHousekeeping) {
  fixture.cut_link();
  test::CapturedLog log;
  damage_all();
  fixture.time.run(fixture.options.housekeeping_interval + 1s);
  EXPECT_NE(log.take().find("error cache was damaged: file kept, new cache created"),
            std::string::npos);
  EXPECT_EQ(kept_files(fixture.options.data_dir, "cache.db"), 1);
  fixture.stop();
  fixture.start();
  fixture.time.run(1s);
  EXPECT_EQ(listed(), number_of_pods);
  EXPECT_EQ(kept_files(fixture.options.data_dir, "cache.db"), 1);
}

// Lists are not read from a damaged file: the node would take a missing pod for deleted. Each token
// stands for itself.
TEST_F(DamagedCache, KeepsItsTokensButNotItsListsOverARestart) {
  for (const bool checked : {true, false}) {
    SCOPED_TRACE(checked ? "found by the check" : "found when the rows are read");
    fixture.cut_link();
    fixture.stop();
    const std::uintmax_t size = std::filesystem::file_size(file());
    damage(file(), size / 2, checked ? 4 << 10 : size / 3);
    // The file's structure is checked only after an unclean stop.
    if (checked) std::ofstream(file().string() + "-wal") << "not a log";
    test::CapturedLog log;
    fixture.start();
    fixture.time.run(1s);
    EXPECT_NE(log.take().find("error cache was damaged: file kept, new cache created"),
              std::string::npos);
    EXPECT_EQ(listed(), -1);
    fixture.restore_link();
    EXPECT_EQ(fixture.ask(our_pods).status, 200);
    fixture.time.run(1min);
    fixture.cut_link();
    EXPECT_EQ(listed(), number_of_pods);
    if (checked) {
      EXPECT_GE(tokens(), number_of_pods / 2);
    }
    fixture.restore_link();
    EXPECT_EQ(tokens(), number_of_pods);
    fixture.time.run(1min);
  }
}

// A watch from a local version of before must not be taken for one of another write.
TEST(DamagedCacheFile, GivesNoLocalVersionTwice) {
  const test::ScratchDir dir;
  test::VirtualTime time;
  cached::Agent run(time.context(), dir.path());
  const sync::objects::Version before = run.versions.next().value();
  EXPECT_TRUE(run.file->database().execute("PRAGMA shrink_memory"));
  damage(dir.path() / "cache.db", 0, 100 << 20);
  damage(dir.path() / "cache.db-wal", 0, 100 << 20);
  EXPECT_TRUE(run.answers.put("node", "/version", {.status = 200, .bytes = "{}"}));
  EXPECT_EQ(run.file->replacements(), 1u);
  EXPECT_TRUE(run.versions.has_assigned(before));
  EXPECT_GT(run.versions.next().value(), before);
}

}  // namespace
}  // namespace holdfast::agent::uplink::damaged_cache
