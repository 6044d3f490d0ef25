// Compressed answers on the uplink: who gets one, and that each client gets it as it has asked.

#include <gtest/gtest.h>

#include "agent/edge/admin/endpoints.h"
#include "agent/edge/route/answer.h"
#include "agent/lab/apiserver/compress.h"
#include "platform/http/client.h"
#include "platform/loop/tasks.h"
#include "test/unit/agent/edge/uplink/uplink_fixture.h"

namespace holdfast::agent::uplink::compression {
namespace {

using sync::autonomy::LinkState;

const std::string secrets = "/api/v1/secrets";
const std::string list =
    R"({"kind":"SecretList","apiVersion":"v1","metadata":)"
    R"({"resourceVersion":"300"},"items":[{"metadata":{"name":"s","namespace":)"
    R"("a","uid":"u","resourceVersion":"200"},"data":{"a":")" +
    std::string(1UL << 20, 'x') + R"("}}]})";

struct CompressionFixture : UplinkFixture {
  explicit CompressionFixture(const std::string& cluster = "")
      : UplinkFixture({.cluster = cluster}) {
    servers[0]->special = [this](const http::Request& request) -> std::optional<http::Response> {
      if (!request.path().starts_with(path)) return std::nullopt;
      asked_for = request.headers.get("Accept-Encoding");
      http::Response response = json_response(200, list);
      lab::maybe_compress(request, "list", response);
      return response;
    };
    EXPECT_TRUE(until(LinkState::connected));
    time.run(30s);
  }

  http::Response get(const std::string& accepted) {
    http::Request request{.target = path, .headers = {{"User-Agent", "kubectl/v1"}}};
    if (!accepted.empty()) request.headers.add("Accept-Encoding", accepted);
    http::Response response = ask(std::move(request));
    time.complete(read_rest(response));
    return response;
  }

  static asio::awaitable<void> read_rest(http::Response& response) {
    while (response.stream) {
      const auto piece = co_await response.stream->next();
      if (!piece || piece->empty()) break;
      response.body += *piece;
    }
  }

  std::uint64_t received() {
    return edge->uplink().bytes().cost(sync::autonomy::UplinkClass::reads).received;
  }

  std::string path = secrets;
  std::string asked_for;  // by the agent
};

TEST(Compression, IsAskedForIfTheClientDoesOrThePathIsSlow) {
  const struct {
    const char* what;
    const char* accepted;
    Duration latency;
    const char* cluster;
    const char* asked_for;
  } rows[] = {
      {"as client-go asks", "gzip", 0ms, "", "gzip"},
      {"as curl asks", "", 0ms, "", ""},
      {"not accepted", "identity", 0ms, "", ""},
      {"as a browser asks", "gzip, deflate, br", 0ms, "", "gzip"},
      {"over a slow path", "", 100ms, "", "gzip"},
      {"switched off", "gzip", 100ms, "disable-compression: true", ""},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    CompressionFixture fixture(row.cluster);
    fixture.servers[0]->latency = row.latency;
    fixture.time.run(2min);
    const std::uint64_t before = fixture.received();
    const http::Response response = fixture.get(row.accepted);
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(fixture.asked_for, row.asked_for);
    EXPECT_TRUE(response.body == list) << response.body.size();
    EXPECT_EQ(response.headers.get("Content-Encoding"), "");
    // What has arrived is charged, not what it expands to.
    const std::uint64_t charged = fixture.received() - before;
    if (fixture.asked_for.empty()) {
      EXPECT_GT(charged, list.size());
    } else {
      EXPECT_LT(charged, list.size() / 50);
      EXPECT_GT(charged, 1000u);
    }
  }
}

// What the API server passes on from a kubelet or a pod is the client's own affair.
TEST(Compression, OfWhatAPodSaysIsBetweenItAndTheClient) {
  CompressionFixture fixture;
  fixture.path = "/api/v1/namespaces/a/services/s/proxy/page";
  const http::Response response = fixture.get("br, gzip");
  EXPECT_EQ(fixture.asked_for, "br, gzip");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.headers.get("Content-Encoding"), "gzip");
  EXPECT_LT(response.body.size(), list.size() / 50);
}

TEST(Compression, IsNotAskedForWithAWatch) {
  CompressionFixture fixture;
  fixture.path = secrets + "?watch=true&timeoutSeconds=5";
  fixture.asked_for = "nothing";
  fixture.servers[0]->special = [&fixture](const http::Request& request) {
    if (request.path().starts_with(secrets)) {
      fixture.asked_for = request.headers.get("Accept-Encoding");
    }
    return std::optional<http::Response>();
  };
  fixture.cloud.put(secrets, "s");
  loop::Tasks tasks(fixture.time.executor());
  tasks.spawn("watch", [](CompressionFixture& watching) -> asio::awaitable<void> {
    http::Client client(http::Endpoint{read_endpoints(watching.options.data_dir).value().proxy});
    http::Request request{.target = watching.path,
                          .headers = {{"User-Agent", "kubectl/v1"}, {"Accept-Encoding", "gzip"}}};
    (void)co_await client.open(std::move(request), watching.time.clock().mono() + 5s);
  }(fixture));
  fixture.time.run(10s);
  EXPECT_EQ(fixture.asked_for, "");
  tasks.cancel();
  fixture.time.complete(tasks.join());
}

// A pod that is an aggregated API server may answer so.
TEST(Compression, ThatIsDamagedHurtsOnlyItsOwnRequest) {
  for (const char* body : {"not gzip", "\x1f\x8b"}) {
    CompressionFixture fixture;
    fixture.servers[0]->special =
        [body](const http::Request& request) -> std::optional<http::Response> {
      if (!request.path().starts_with(secrets)) return std::nullopt;
      http::Response response = json_response(200, body);
      response.headers.set("Content-Encoding", "gzip");
      return response;
    };
    const MonoTime since = fixture.edge->uplink().link().since();
    const http::Response response = fixture.get("gzip");
    EXPECT_EQ(response.status, 503);
    EXPECT_NE(response.body.find("the body is damaged: gzip: "), std::string::npos);
    fixture.time.run(1min);
    EXPECT_EQ(fixture.edge->uplink().link().since(), since) << fixture.reason();
  }
}

}  // namespace
}  // namespace holdfast::agent::uplink::compression
