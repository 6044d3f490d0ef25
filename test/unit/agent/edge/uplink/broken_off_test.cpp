// An API server that breaks off what takes too long, as kube-apiserver does after its
// --request-timeout: the connection goes on, and smaller pages arrive.

#include <gtest/gtest.h>

#include "agent/edge/route/answer.h"
#include "platform/loop/clock.h"
#include "platform/loop/timer.h"
#include "platform/text.h"
#include "sync/wire/json.h"
#include "test/support/captured_log.h"
#include "test/support/certificates.h"
#include "test/unit/agent/edge/uplink/uplink_fixture.h"

namespace holdfast::agent::uplink::broken_off {
namespace {

using sync::autonomy::LinkState;

const std::string maps = "/api/v1/namespaces/a/configmaps";
constexpr int objects = 1000;
constexpr int most = 130;  // objects of a page that arrives

// The beginning of a list, and then the end of the stream in the middle.
class Beginning final : public http::BodyStream {
 public:
  asio::awaitable<Result<std::string>> next() override {
    if (std::exchange(begun_, true)) {
      const Clock& clock = loop::clock_of(co_await asio::this_coro::executor);
      co_await loop::sleep_until(clock.mono() + 1s);
      co_return fail(Errc::timeout, "--request-timeout");
    }
    co_return R"({"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"300"},)";
  }
  void cancel() override {}

 private:
  bool begun_ = false;
};

std::string item(int number) {
  return R"({"metadata":{"name":"m)" + std::to_string(number) + R"(","namespace":"a","uid":"u)" +
         std::to_string(number) + R"(","resourceVersion":"200"}})";
}

// A page of the list, or the beginning of one that takes too long.
http::Response list(const Query& query) {
  const int limit = parse_int<int>(query.get("limit")).value_or(objects);
  const int from = parse_int<int>(query.get("continue")).value_or(0);
  const int end = std::min(from + limit, objects);
  http::Response response = json_response(200, "");
  if (end - from > most) {
    response.stream = std::make_shared<Beginning>();
    return response;
  }
  std::string items;
  for (int number = from; number < end; ++number) {
    items += (items.empty() ? "" : ",") + item(number);
  }
  const std::string next = end < objects ? R"(,"continue":")" + std::to_string(end) + '"' : "";
  response.body =
      R"({"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"300")" + next +
      R"(},"items":[)" + items + "]}";
  return response;
}

struct BrokenOffFixture : UplinkFixture {
  BrokenOffFixture()
      : UplinkFixture({.tls = context(), .cluster = "insecure-skip-tls-verify: true"}) {
    servers[0]->special = [this](const http::Request& request) -> std::optional<http::Response> {
      const Query query = Query::parse(request.query()).value();
      if (request.path() != maps || query.flag("watch")) return std::nullopt;
      if (!query.has("resourceVersion")) limits.emplace_back(query.get("limit"));
      return list(query);
    };
    EXPECT_TRUE(until(LinkState::connected));
    time.run(30s);
  }

  static std::shared_ptr<const tls::Context> context() {
    static const test::Authority authority("cluster");
    return tls::Context::for_server(
               {.identity = authority.sign({.common_name = "s", .names = {"IP:127.0.0.1"}}),
                .protocols = {"h2", "http/1.1"}})
        .value();
  }

  std::vector<std::string> limits;  // of each list of the agent's own
};

TEST(BrokenOff, IsAListUntilItsPagesAreSmallEnough) {
  BrokenOffFixture fixture;
  const MonoTime since = fixture.edge->uplink().link().since();
  test::CapturedLog log;
  (void)fixture.ask(maps + "?resourceVersion=0");
  fixture.time.run(2min);
  EXPECT_EQ(fixture.state(), LinkState::connected) << fixture.reason();
  EXPECT_EQ(fixture.edge->uplink().link().since(), since) << "it was no fault of the link";
  const std::vector<std::string> expected{"500", "125", "125", "125", "125",
                                          "125", "125", "125", "125"};
  EXPECT_EQ(fixture.limits, expected);
  EXPECT_NE(log.take().find("the body was broken off: the server ended the stream: "),
            std::string::npos);
  fixture.cut_link();
  const http::Response cached = fixture.ask(maps + "?resourceVersion=0");
  EXPECT_EQ(cached.status, 200);
  const auto parsed = sync::wire::parse_json(cached.body).value();
  EXPECT_EQ(parsed.at("items").as_array().size(), static_cast<std::size_t>(objects));
}

// A client that asks for more than arrives is told so, and nobody else notices.
TEST(BrokenOff, IsAnAnswerForItsClientAlone) {
  BrokenOffFixture fixture;
  const MonoTime since = fixture.edge->uplink().link().since();
  const http::Response response =
      fixture.ask({.target = maps + "?limit=400", .headers = {{"User-Agent", "kubectl/v1"}}});
  EXPECT_EQ(response.status, 503) << response.body;
  EXPECT_NE(response.body.find("the body was broken off"), std::string::npos) << response.body;
  fixture.time.run(1min);
  EXPECT_EQ(fixture.edge->uplink().link().since(), since) << "it was no fault of the link";
  EXPECT_EQ(fixture.ask({.target = maps + "?limit=100", .headers = {{"User-Agent", "kubectl/v1"}}})
                .status,
            200);
}

}  // namespace
}  // namespace holdfast::agent::uplink::broken_off
