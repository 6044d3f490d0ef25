// What holdfastctl reads from an agent that runs, and from its files when it does not.

#include "agent/ctl/source.h"

#include <algorithm>

#include "sync/wire/json.h"
#include "test/unit/agent/edge/uplink/uplink_fixture.h"

namespace holdfast::agent {
namespace {

using namespace std::chrono_literals;

struct SourceDocuments {
  sync::json::value status;
  sync::json::value objects;
  std::string secrets;
  sync::json::value journal;
};

asio::awaitable<void> read_documents(Source& source, SourceDocuments& into) {
  std::string resource = "pods";
  std::string every;
  const auto status = co_await source.status();
  const auto objects = co_await source.objects(std::move(resource));
  std::string secret_resource = "secrets";
  const auto secrets = co_await source.objects(std::move(secret_resource));
  const auto journal = co_await source.journal(std::move(every));
  into.status = sync::wire::parse_json(status.value()).value();
  into.objects = sync::wire::parse_json(objects.value()).value();
  into.secrets = trim(secrets.value());
  into.journal = sync::wire::parse_json(journal.value()).value();
}

SourceDocuments documents_of(uplink::UplinkFixture& fixture, Source& source) {
  SourceDocuments documents;
  fixture.time.complete(read_documents(source, documents));
  return documents;
}

TEST(CtlSource, ARunningAndAStoppedAgentGiveTheSameDocuments) {
  uplink::UplinkFixture fixture;
  const std::string& dir = fixture.options.data_dir;
  fixture.cloud.put("/api/v1/namespaces/a/pods", "p", R"({"spec":{"nodeName":"edge1"}})");
  ASSERT_TRUE(fixture.until(sync::autonomy::LinkState::connected));
  const std::string pods = "/api/v1/pods?fieldSelector=spec.nodeName%3Dedge1&resourceVersion=0";
  ASSERT_EQ(fixture.ask(pods).status, 200);
  fixture.cloud.put("/api/v1/namespaces/a/secrets", "s", R"({"data":{"k":"dHJlYXN1cmU="}})");
  ASSERT_EQ(fixture.ask("/api/v1/namespaces/a/secrets?resourceVersion=0").status, 200);
  fixture.cut_link();
  fixture.time.run(10s);
  SourceDocuments running;
  {
    const auto source = open_source(dir, "", fixture.time.clock()).value();
    running = documents_of(fixture, *source);
  }
  fixture.stop();
  SourceDocuments stopped;
  {
    const auto source = open_source(dir, "", fixture.time.clock()).value();
    const auto agent = Edge::make(fixture.time.executor(), fixture.options, fixture.time.clock());
    ASSERT_FALSE(agent) << "no agent starts while its files are read";
    EXPECT_EQ(agent.error().code, Errc::conflict);
    stopped = documents_of(fixture, *source);
  }

  EXPECT_EQ(stopped.objects.as_array().size(), 1U);
  EXPECT_TRUE(stopped.objects == running.objects);
  EXPECT_EQ(stopped.secrets, running.secrets);
  EXPECT_NE(stopped.secrets.find(R"("k":"redacted, 12 characters")"), std::string::npos)
      << stopped.secrets;
  const sync::json::array& records = stopped.journal.as_array();
  EXPECT_FALSE(running.journal.as_array().empty());
  for (const sync::json::value& record : running.journal.as_array()) {
    EXPECT_NE(std::find(records.begin(), records.end(), record), records.end());
  }
  // The status of a stopped agent has fewer fields, and no others.
  EXPECT_EQ(stopped.status.at("link").at("state"), "agent not running");
  EXPECT_EQ(running.status.at("link").at("state"), "offline");
  for (const auto& section : stopped.status.as_object()) {
    for (const auto& field : section.value().as_object()) {
      EXPECT_TRUE(running.status.at(section.key()).as_object().contains(field.key()))
          << section.key() << "." << field.key();
    }
  }
  fixture.start();
}

// Who only looks must not encrypt the cache, with a key that the agent may not have.
TEST(CtlSource, AKeyChangesNothingInTheFilesOfAStoppedAgent) {
  uplink::UplinkFixture fixture;
  const std::string secrets = "/api/v1/namespaces/a/secrets?resourceVersion=0";
  fixture.cloud.put("/api/v1/namespaces/a/secrets", "s", R"({"data":{"k":"dHJlYXN1cmU="}})");
  ASSERT_TRUE(fixture.until(sync::autonomy::LinkState::connected));
  ASSERT_EQ(fixture.ask(secrets).status, 200);
  fixture.time.run(10s);
  fixture.cut_link();
  fixture.stop();
  const test::ScratchDir dir;
  const std::string key = (dir.path() / "key").string();
  ASSERT_TRUE(fs::atomic_write(key, std::string(32, 'k')));
  { const auto source = open_source(fixture.options.data_dir, key, fixture.time.clock()).value(); }
  fixture.start();
  fixture.time.run(1s);
  EXPECT_EQ(fixture.ask(secrets).status, 200);
}

}  // namespace
}  // namespace holdfast::agent
