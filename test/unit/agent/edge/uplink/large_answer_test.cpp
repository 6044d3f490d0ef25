// Answers that are large or slow: what is not cached passes through the agent while it arrives, of
// any size and as long as bytes move.

#include <gtest/gtest.h>

#include "agent/edge/route/answer.h"
#include "platform/loop/tasks.h"
#include "sync/wire/json.h"
#include "test/support/captured_log.h"
#include "test/support/certificates.h"
#include "test/unit/agent/edge/uplink/large_answer.h"

namespace holdfast::agent::uplink::large_answer {
namespace {

// An event of a local client, which is sent to the cloud while its client waits.
http::Request event(int number) {
  return {.method = http::Method::post,
          .target = "/api/v1/namespaces/a/events",
          .headers = {{"User-Agent", "kubelet"}, {"Content-Type", "application/json"}},
          .body = R"({"kind":"Event","apiVersion":"v1","metadata":{"namespace":"a","name":"e)" +
                  std::to_string(number) +
                  R"("},"reason":"x","involvedObject":{"namespace":"a"}})"};
}

// How long heartbeats to the only server take, as the status shows it.
Duration heartbeat(UplinkFixture& fixture) {
  const auto status = sync::wire::parse_json(fixture.admin("/v1/status")).value();
  const auto& server = status.at("link").at("servers").at(0);
  return std::chrono::milliseconds(server.at("heartbeat_ms").as_int64());
}

TEST(LargeAnswer, OfAnySizePassesThroughInLittleMemory) {
  for (const std::size_t bytes : {40 * kibibyte, 64 * kibibyte, 3 * mebibyte, 68 * mebibyte}) {
    SCOPED_TRACE(bytes);
    LargeFixture fixture;
    fixture.serve(secrets, bytes);
    const Got got = fixture.ask_for(secrets, "kubectl");
    EXPECT_EQ(got.status, 200);
    EXPECT_EQ(got.bytes, bytes);
    EXPECT_EQ(got.error, "");
    EXPECT_LE(fixture.furthest_ahead, 2 * mebibyte);
    EXPECT_EQ(fixture.state(), LinkState::connected);
  }
}

// The sockets and the agent hold some of it, and the API server waits with the rest.
TEST(LargeAnswer, WaitsForAClientThatReadsSlowly) {
  LargeFixture fixture;
  fixture.serve(secrets, 20 * mebibyte);
  const Got got = fixture.ask_for(secrets, "kubectl", 100ms);
  EXPECT_EQ(got.bytes, 20 * mebibyte);
  EXPECT_GE(got.whole, 30s);
  EXPECT_LE(fixture.furthest_ahead, 4 * mebibyte);
  EXPECT_EQ(fixture.state(), LinkState::connected);
}

TEST(LargeAnswer, MayTakeLongAsLongAsItMoves) {
  const struct {
    std::int64_t bytes_per_s;
    std::size_t bytes;
    Duration least;
    Duration most;
    bool lease_is_late = false;  // its answers come more than 30 s late, which is told
  } rows[] = {
      {150'000, 3 * mebibyte, 20s, 25s},
      {150'000, 12 * mebibyte, 80s, 90s},
      {16'000, 1 * mebibyte, 60s, 75s, true},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.bytes);
    LargeFixture fixture;
    fixture.narrow(row.bytes_per_s);
    fixture.serve(secrets, row.bytes);
    const MonoTime since = fixture.edge->uplink().link().since();
    test::CapturedLog log;
    const Got got = fixture.ask_for(secrets, "kubectl");
    EXPECT_EQ(log.take().find("does not renew") != std::string::npos, row.lease_is_late);
    EXPECT_EQ(got.status, 200);
    EXPECT_EQ(got.bytes, row.bytes);
    EXPECT_EQ(got.error, "");
    EXPECT_LE(got.first, 3s);
    EXPECT_GE(got.whole, row.least);
    EXPECT_LE(got.whole, row.most);
    EXPECT_EQ(fixture.state(), LinkState::connected) << fixture.reason();
    EXPECT_EQ(fixture.edge->uplink().link().since(), since) << "it was no fault of the link";
  }
}

TEST(LargeAnswer, ThatStopsIsBrokenOffSoon) {
  LargeFixture fixture;
  fixture.serve(secrets, 3 * mebibyte, mebibyte);
  const Got got = fixture.ask_for(secrets, "kubectl");
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.bytes, mebibyte);
  EXPECT_NE(got.error, "") << "the client must not take it for the whole";
  EXPECT_LE(got.whole, passed_on_silence + 2s);
  EXPECT_EQ(fixture.state(), LinkState::connected) << fixture.reason();
}

// A filter needs the kubelet's ConfigMaps whole. What only trickles does not hold memory for ever.
TEST(LargeAnswer, ThatIsNeededWholeAndTricklesIsGivenUpAfterAMinute) {
  LargeFixture fixture;
  fixture.pause = 5s;
  fixture.serve(maps, 3 * mebibyte);
  const Got got = fixture.ask_for(maps, "kubelet");
  EXPECT_GE(got.status, 503);
  EXPECT_GE(got.whole, 60s);
  EXPECT_LE(got.whole, 70s);
  EXPECT_EQ(fixture.state(), LinkState::connected) << fixture.reason();
}

// The other server's heartbeats go on, so that nothing waits until the silence is over.
TEST(LargeAnswer, OfOneOfSeveralServersIsBrokenOffWhenThatFails) {
  LargeFixture fixture(
      {.servers = 2, .set = [](EdgeOptions& options) { options.lb_mode = "priority"; }});
  fixture.serve(secrets, 3 * mebibyte, mebibyte);
  Got got;
  loop::Tasks tasks(fixture.time.executor());
  tasks.spawn("read", fixture.read(secrets, "kubectl", 0s, got));
  fixture.time.run(500ms);
  EXPECT_EQ(got.bytes, mebibyte);
  EXPECT_EQ(got.error, "");
  fixture.servers[0]->cut("black_hole");
  // Other requests show that the server has failed.
  EXPECT_EQ(fixture.ask("/api/v1/namespaces/a/secrets/none", "kubectl").status, 404);
  fixture.time.complete(tasks.join());
  EXPECT_NE(got.error, "") << "the client must not take it for the whole";
  EXPECT_LE(got.whole, 6s);
  EXPECT_LT(got.whole, passed_on_silence);
  EXPECT_EQ(fixture.state(), LinkState::connected) << fixture.reason();
}

// Nobody is told that it is too large for the cache, as long as the cloud is there.
TEST(LargeAnswer, OfAListThatIsTooLargeForTheCacheComesFromTheCloud) {
  LargeFixture fixture({.set = [](EdgeOptions& options) {
    options.list_bytes_max = 1 << 20;
    options.cache_memory_max = 2 << 20;
  }});
  fixture.serve(secrets, 13 * mebibyte);
  for (const char* query : {"", "?resourceVersion=0", "?limit=500"}) {
    SCOPED_TRACE(query);
    const Got got = fixture.ask_for(secrets + query, "kubelet");
    EXPECT_EQ(got.status, 200);
    EXPECT_EQ(got.bytes, 13 * mebibyte);
    EXPECT_EQ(got.error, "");
  }
  fixture.cut_link();
  EXPECT_EQ(fixture.ask_for(secrets, "kubelet").status, 503);
}

// What is passed on is limited in number. Who is refused may try again, and nothing else suffers.
TEST(LargeAnswer, ManySlowReadersLeaveRoomForTheRest) {
  LargeFixture fixture;
  fixture.serve(secrets, 4 * mebibyte);
  constexpr int readers = 50;
  std::vector<Got> got(readers);
  loop::Tasks tasks(fixture.time.executor());
  for (Got& each : got) tasks.spawn("read", fixture.read(secrets, "kubectl", 5s, each));
  fixture.time.run(1min);
  const auto with = [&got](int status) {
    return std::count_if(got.begin(), got.end(),
                         [status](const Got& each) { return each.status == status; });
  };
  EXPECT_EQ(with(200), 32);
  EXPECT_EQ(with(429), readers - 32);
  EXPECT_EQ(fixture.ask("/version").status, 200);
  EXPECT_EQ(fixture.ask(maps + "?resourceVersion=0").status, 200);
  EXPECT_EQ(fixture.state(), LinkState::connected);
  tasks.cancel();
  fixture.time.complete(tasks.join());
  fixture.time.run(1min);
  EXPECT_EQ(fixture.ask_for(secrets, "kubectl").bytes, 4 * mebibyte) << "there is room again";
}

// What arrives is never far ahead of what the path carries, so that other answers come through.
TEST(LargeAnswer, LeavesRoomForWritesAndHeartbeats) {
  const struct {
    std::int64_t bytes_per_s;
    std::size_t readers;
    // Until the first bytes of each reader, at most 64 KiB, have arrived.
    Duration first = 10s;
    bool in_turn = false;
  } rows[] = {{16'000, 1, 100ms}, {16'000, 4},         {16'000, 4, 10s, true},
              {50'000, 4},        {150'000, 1, 100ms}, {150'000, 4, 100ms}};
  const test::Authority authority("cluster");
  const auto tls = tls::Context::for_server(
      {.identity = authority.sign({.common_name = "s", .names = {"IP:127.0.0.1"}}),
       .protocols = {"h2", "http/1.1"}});
  for (const auto& row : rows) {
    SCOPED_TRACE(std::to_string(row.bytes_per_s) + " for " + std::to_string(row.readers));
    LargeFixture fixture({.tls = tls.value(), .cluster = "insecure-skip-tls-verify: true"});
    fixture.narrow(row.bytes_per_s);
    const std::size_t bytes = 60 * static_cast<std::size_t>(row.bytes_per_s) / row.readers;
    fixture.serve(secrets, bytes);
    fixture.in_turn = row.in_turn;
    test::CapturedLog log;
    std::vector<Got> got(row.readers);
    loop::Tasks tasks(fixture.time.executor());
    for (Got& each : got) tasks.spawn("read", fixture.read(secrets, "kubectl", 0s, each));
    fixture.time.run(row.first);
    for (int i = 0; i < 5; ++i) {
      const MonoTime asked = fixture.time.clock().mono();
      EXPECT_EQ(fixture.ask(event(i)).status, 200) << i;
      EXPECT_LE(fixture.time.clock().mono() - asked, 1500ms) << i;
      fixture.time.run(5s);
    }
    EXPECT_LE(heartbeat(fixture), 1000ms);
    fixture.time.complete(tasks.join());
    for (const Got& each : got) {
      EXPECT_EQ(each.bytes, bytes) << each.error;
      EXPECT_LE(each.whole, 66s) << "the path is used";
    }
    EXPECT_EQ(log.take().find("does not renew"), std::string::npos);
    EXPECT_EQ(fixture.state(), LinkState::connected) << fixture.reason();
  }
}

// Each byte is charged once.
TEST(LargeAnswer, CountsForTheBudget) {
  LargeFixture fixture;
  const auto received = [&fixture] {
    return fixture.edge->uplink().bytes().cost(sync::autonomy::UplinkClass::reads).received;
  };
  fixture.serve(secrets, 20 * mebibyte);
  const std::uint64_t before = received();
  EXPECT_EQ(fixture.ask_for(secrets, "kubectl").bytes, 20 * mebibyte);
  EXPECT_GE(received() - before, 20 * mebibyte);
  EXPECT_LE(received() - before, 20 * mebibyte + kibibyte);
}

}  // namespace
}  // namespace holdfast::agent::uplink::large_answer
