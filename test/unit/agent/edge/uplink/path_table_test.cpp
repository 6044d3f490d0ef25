// The table of paths: whatever the round trip, the rate and the length of a cut, the lease is
// renewed in time, local reads are answered at once, and a cut costs watches and no lists.

#include <gtest/gtest.h>

#include <algorithm>

#include "test/unit/agent/edge/uplink/uplink_fixture.h"

namespace holdfast::agent::uplink::path_table {
namespace {

using sync::autonomy::LinkState;

const std::string own_pods = "/api/v1/pods?fieldSelector=spec.nodeName%3Dedge1";
const std::string own_node = "/api/v1/nodes?fieldSelector=metadata.name%3Dedge1";
const std::string pods = "/api/v1/namespaces/a/pods";
const std::string secrets = "/api/v1/namespaces/a/secrets";
constexpr int pod_count = 10;

struct Path {
  Duration round_trip;
  std::int64_t bytes_per_s;  // in each direction; 0: unlimited
  Duration cut;
};

std::string name_of(const Path& path) {
  std::string rate = path.bytes_per_s == 0 ? "" : std::to_string(path.bytes_per_s / 1000) + "KBs";
  if (rate.empty()) rate = "AnyRate";
  return std::to_string(path.round_trip / 1ms) + "ms" + rate + std::to_string(path.cut / 1s) + "s";
}

void PrintTo(const Path& path, std::ostream* out) { *out << name_of(path); }

std::vector<Path> all_paths() {
  std::vector<Path> all;
  for (const Duration round_trip : {0ms, 400ms, 1300ms, 3000ms}) {
    for (const std::int64_t rate : {0, 150'000, 16'000}) {
      for (const Duration cut : {1s, 5s, 60s}) all.push_back({round_trip, rate, cut});
    }
  }
  all.push_back({0ms, 0, 8h});
  all.push_back({400ms, 150'000, 8h});
  all.push_back({3000ms, 16'000, 8h});
  return all;
}

// A node with ten pods, each with a Secret of its own.
struct PathTable : ::testing::TestWithParam<Path> {
  PathTable() {
    fixture.stop();
    fixture.time.network().set_link(
        {"127.0.0.1", fixture.servers[0]->port()},
        {.latency = GetParam().round_trip / 2, .bytes_per_s = GetParam().bytes_per_s});
    fixture.cloud.put("/api/v1/nodes", "edge1");
    for (int i = 0; i < pod_count; ++i) {
      fixture.cloud.put(pods, "p" + std::to_string(i),
                        R"({"spec":{"nodeName":"edge1","volumes":[{"secret":{"secretName":"s)" +
                            std::to_string(i) + R"("}}]}})");
      fixture.cloud.put(secrets, "s" + std::to_string(i),
                        R"({"data":{"a":")" + std::string(2000, 'x') + R"("}})");
    }
    fixture.start();
    EXPECT_TRUE(fixture.until(LinkState::connected));
    EXPECT_EQ(fixture.ask(own_pods).status, 200);
    EXPECT_EQ(fixture.ask(own_node).status, 200);
    for (int i = 0; i < pod_count; ++i) EXPECT_EQ(fixture.ask(secret(i)).status, 200);
    fixture.time.run(3min);
    EXPECT_TRUE(fixture.until(LinkState::connected)) << fixture.reason();
  }

  static std::string secret(int number) {
    return secrets + "?fieldSelector=metadata.name%3Ds" + std::to_string(number);
  }

  // How long a local read of what is cached takes.
  Duration read(const std::string& scope) {
    const MonoTime asked = fixture.time.clock().mono();
    EXPECT_EQ(fixture.ask(scope + "&resourceVersion=0").status, 200) << scope;
    return fixture.time.clock().mono() - asked;
  }

  [[nodiscard]] int lists(std::size_t from) const {
    return fixture.cloud.count_lists("/api/v1/pods", from) +
           fixture.cloud.count_lists("/api/v1/nodes", from) +
           fixture.cloud.count_lists(secrets, from);
  }

  UplinkFixture fixture;
};

TEST_P(PathTable, ACutCostsWatchesAndNothingElse) {
  const auto [round_trip, rate, cut] = GetParam();
  fixture.cut_link();
  fixture.time.run(cut);
  const http::Response written =
      fixture.ask({.method = http::Method::patch,
                   .target = pods + "/p3/status",
                   .headers = {{"User-Agent", "kubelet"},
                               {"Content-Type", "application/strategic-merge-patch+json"}},
                   .body = R"({"metadata":{"uid":"uid-p3"},"status":{"message":"offline"}})"});
  EXPECT_EQ(written.status, 200);
  fixture.cloud.put(secrets, "s5", R"({"data":{"a":"changed"}})");
  EXPECT_LE(read(own_pods), 10ms) << "offline";
  const std::size_t mark = fixture.cloud.asked.size();
  const std::uint64_t received = fixture.edge->uplink().traffic().received;
  fixture.servers[0]->restore();
  ASSERT_TRUE(fixture.until(LinkState::rejoining));
  const auto took = fixture.until(LinkState::connected);
  ASSERT_TRUE(took);
  // A random delay of up to 2 s, and: the Node, the status (a GET and a PATCH), the watches.
  const Duration bytes = rate == 0 ? Duration{} : std::chrono::seconds(20'000 / rate + 1);
  EXPECT_LE(*took, 3s + 6 * round_trip + bytes) << "to be connected";
  const WallTime connected = fixture.time.clock().wall();
  EXPECT_LE(read(own_pods), 10ms) << "connected";
  fixture.time.run(2min);
  EXPECT_EQ(fixture.state(), LinkState::connected) << fixture.reason();
  EXPECT_EQ(lists(mark), 0);
  EXPECT_LE(fixture.edge->uplink().traffic().received - received, 40'000U);
  EXPECT_LE(fixture.longest_gap(connected), 20s);
  EXPECT_NE(fixture.cloud.object(pods, "p3").find("offline"), std::string::npos);
  EXPECT_NE(fixture.ask(secret(5) + "&resourceVersion=0").body.find("changed"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(All, PathTable, ::testing::ValuesIn(all_paths()),
                         [](const auto& path) { return name_of(path.param); });

// Of so many requests, one gets no answer.
struct Loss : PathTable {};

TEST_P(Loss, TheLastStatusIsTheOneThatRemains) {
  int requests = 0;
  int lost = 0;
  fixture.servers[0]->special = [&](const http::Request& request) -> std::optional<http::Response> {
    if (++requests % 4 != 0 || request.query().find("watch=") != std::string_view::npos) {
      return std::nullopt;
    }
    ++lost;
    return http::Response{.status = 0};
  };
  for (int i = 0; i < 60; ++i) {
    const std::string message = "m" + std::to_string(i);
    // A kubelet writes again what was answered with 504: nobody knows whether that has arrived.
    int status = 504;
    for (int attempt = 0; status == 504 && attempt < 4; ++attempt) {
      const http::Response written = fixture.ask(
          {.method = http::Method::patch,
           .target = pods + "/p3/status",
           .headers = {{"User-Agent", "kubelet"},
                       {"Content-Type", "application/strategic-merge-patch+json"}},
           .body = R"({"metadata":{"uid":"uid-p3"},"status":{"message":")" + message + R"("}})"});
      status = written.status;
      fixture.time.run(10s);
    }
    EXPECT_EQ(status, 200) << message;
  }
  EXPECT_GE(lost, 30);
  fixture.servers[0]->special = [](const http::Request&) { return std::nullopt; };
  EXPECT_TRUE(fixture.until(LinkState::connected));
  fixture.time.run(2min);
  EXPECT_EQ(fixture.metric("holdfast_edge_outbox_entries"), std::vector<std::string>{" 0"});
  EXPECT_NE(fixture.cloud.object(pods, "p3").find("m59"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(OfAnswers, Loss,
                         ::testing::Values(Path{0ms, 0, {}}, Path{400ms, 0, {}},
                                           Path{1300ms, 150'000, {}}, Path{3000ms, 0, {}}),
                         [](const auto& path) { return name_of(path.param); });

}  // namespace
}  // namespace holdfast::agent::uplink::path_table
