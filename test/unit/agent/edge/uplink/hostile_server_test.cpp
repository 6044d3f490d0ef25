// An API server that sends too much: only the one list fails; the memory and the link are not
// affected.

#include <gtest/gtest.h>

#include "agent/edge/route/answer.h"
#include "platform/loop/timer.h"
#include "test/unit/agent/edge/uplink/uplink_fixture.h"

namespace holdfast::agent::uplink {
namespace {

using sync::autonomy::LinkState;

constexpr const char* flooded = "/api/v1/namespaces/a/configmaps";
constexpr const char* flooded_cached = "/api/v1/namespaces/a/configmaps?resourceVersion=0";
constexpr std::size_t mebibyte = 1UL << 20;

// Returns the same piece again and again.
class Flood final : public http::BodyStream {
 public:
  Flood(std::string begin, std::size_t bytes) : piece_(std::move(begin)), left_(bytes) {}

  asio::awaitable<Result<std::string>> next() override {
    if (cancelled_) co_return fail(Errc::cancelled, "flood");
    std::string piece = std::exchange(piece_, std::string(64 * 1024, 'x'));
    piece.resize(std::min(piece.size(), left_));
    left_ -= piece.size();
    sent += piece.size();
    co_return piece;
  }
  void cancel() override { cancelled_ = true; }

  std::size_t sent = 0;

 private:
  std::string piece_;
  std::size_t left_;
  bool cancelled_ = false;
};

http::Response flood(std::shared_ptr<Flood> body) {
  http::Response response = json_response(200, "");
  response.stream = std::move(body);
  return response;
}

std::string list_of(const std::string& items, const std::string& version) {
  std::string body = R"({"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":")";
  return body.append(version).append(R"("},"items":[)").append(items).append("]}");
}

std::string item(const std::string& name, const std::string& version, std::size_t bytes) {
  std::string text = R"({"metadata":{"name":")" + name + R"(","namespace":"a","resourceVersion":")";
  text.append(version).append(R"("},"data":{"a":")").append(bytes, 'x').append(R"("}})");
  return text;
}

bool is_watch(const http::Request& request) {
  return request.query().find("watch=") != std::string_view::npos;
}

const UplinkFixtureOptions small{.set = [](EdgeOptions& options) {
  options.list_bytes_max = 1 << 20;
  options.cache_memory_max = 2 << 20;
  options.cache_disk_max = 16 << 20;
}};

std::string fault_of_flooded(UplinkFixture& fixture) {
  for (const auto& [key, scope] : fixture.edge->scopes().all()) {
    if (scope->path() == flooded) return std::string(to_string(scope->health().fault()));
  }
  return "none";
}

// Caches an object, disconnects, and reconnects with `special`: the link must be connected and the
// cached object still there.
void expect_unharmed(UplinkFixture& fixture, const FakeApiServer::Special& special,
                     const std::string& fault) {
  fixture.cloud.put(flooded, "one", R"({"data":{"a":"cached"}})");
  fixture.cloud.put("/api/v1/services", "web");
  ASSERT_TRUE(fixture.until(LinkState::connected));
  ASSERT_EQ(fixture.ask(flooded_cached).status, 200);
  ASSERT_EQ(fixture.ask("/api/v1/services?resourceVersion=0").status, 200);
  fixture.time.run(1s);
  fixture.servers[0]->cut("refuse");
  ASSERT_TRUE(fixture.until(LinkState::offline));
  fixture.cloud.put("/api/v1/services", "new");
  fixture.cloud.compact();  // so that all scopes are listed again
  fixture.servers[0]->special = special;
  fixture.servers[0]->restore();
  ASSERT_TRUE(fixture.until(LinkState::connected, 50s)) << fixture.reason();
  fixture.time.run(3min);
  EXPECT_EQ(fixture.state(), LinkState::connected);
  EXPECT_EQ(fault_of_flooded(fixture), fault);
  EXPECT_NE(fixture.ask("/api/v1/services?resourceVersion=0").body.find("\"new\""),
            std::string::npos);
  EXPECT_LE(fixture.edge->scopes().memory_bytes(), 2 * mebibyte);
  fixture.servers[0]->cut("refuse");
  ASSERT_TRUE(fixture.until(LinkState::offline));
  const http::Response told = fixture.ask(flooded_cached);
  EXPECT_EQ(told.status, 200);
  EXPECT_NE(told.body.find("cached"), std::string::npos);
}

TEST(HostileServer, AListWithoutEndIsCutOff) {
  UplinkFixture fixture(small);
  std::size_t lists = 0;
  std::size_t sent = 0;
  std::vector<std::shared_ptr<Flood>> floods;
  const auto special = [&](const http::Request& request) -> std::optional<http::Response> {
    if (request.path() != flooded || is_watch(request)) return std::nullopt;
    ++lists;
    floods.push_back(
        std::make_shared<Flood>(R"({"kind":"ConfigMapList","items":[{"a":")", 64 * mebibyte));
    return flood(floods.back());
  };
  expect_unharmed(fixture, special, "too_large");
  for (const auto& each : floods) sent += each->sent;
  EXPECT_LE(lists, 20u) << "the agent must not list in a loop";
  EXPECT_LE(sent, lists * 8 * mebibyte) << "the limit, and what sockets buffer";
}

TEST(HostileServer, PagesWithoutEndAreCutOff) {
  UplinkFixture fixture(small);
  int pages = 0;
  const auto special = [&pages](const http::Request& request) -> std::optional<http::Response> {
    if (request.path() != flooded || is_watch(request)) return std::nullopt;
    const std::string number = std::to_string(++pages);
    std::string body = list_of(item("n" + number, number, 100'000), number);
    body.replace(body.find("\"metadata\":{"), 12, R"("metadata":{"continue":"more",)");
    return json_response(200, std::move(body));
  };
  expect_unharmed(fixture, special, "too_large");
  constexpr int in_memory = 12;
  constexpr int on_disk = 180;
  EXPECT_LE(pages, in_memory + 4 * on_disk) << "then it is asked for less and less";
}

TEST(HostileServer, TooManyObjectsAreNotTakenOver) {
  UplinkFixture fixture(small);
  const auto special = [](const http::Request& request) -> std::optional<http::Response> {
    if (request.path() != flooded || is_watch(request)) return std::nullopt;
    std::string items;
    for (int i = 0; i < 4000; ++i) {
      items += (i == 0 ? "" : ",") + item("n" + std::to_string(i), "500", 1);
    }
    return json_response(200, list_of(items, "500"));
  };
  expect_unharmed(fixture, special, "too_large");
}

// Each object would need twenty times its bytes in memory before it could be checked.
TEST(HostileServer, ManyEmptyObjectsAreNotTakenApart) {
  UplinkFixture fixture(small);
  std::string items = "{}";
  for (int i = 0; i < 100'000; ++i) items += ",{}";
  const auto special = [&items](const http::Request& request) -> std::optional<http::Response> {
    if (request.path() != flooded || is_watch(request)) return std::nullopt;
    return json_response(200, list_of(items, "500"));
  };
  expect_unharmed(fixture, special, "too_large");
}

TEST(HostileServer, AListThatIsNoneIsNotTakenOver) {
  const std::string huge = std::to_string(sync::objects::first_local_version);
  const std::string lists[] = {
      list_of(item("one", "500", 1), "abc"),  // no version: the watch would have no start
      list_of(item("one", "500", 1), huge),   // a version of the range for local ones
      list_of(item("one", huge, 1), "500"),  list_of(R"({"data":{}})", "500"),
      list_of(item("", "500", 1), "500"),
  };
  for (const std::string& body : lists) {
    SCOPED_TRACE(body);
    UplinkFixture fixture(small);
    bool listed = false;
    const auto special = [&](const http::Request& request) -> std::optional<http::Response> {
      if (request.path() != flooded) return std::nullopt;
      if (!is_watch(request)) {
        listed = true;
        return json_response(200, body);
      }
      if (!listed) return std::nullopt;
      std::string event = R"({"type":"MODIFIED","object":)" + item("two", "501", 1) + "}\n";
      return flood(std::make_shared<Flood>(event, event.size()));
    };
    expect_unharmed(fixture, special, "failed");
  }
}

TEST(HostileServer, AnEventWithoutEndEndsItsWatch) {
  UplinkFixture fixture(small);
  std::vector<std::shared_ptr<Flood>> floods;
  const auto special = [&floods](const http::Request& request) -> std::optional<http::Response> {
    if (request.path() != flooded || !is_watch(request)) return std::nullopt;
    floods.push_back(std::make_shared<Flood>(R"({"type":"ADDED","object":{"a":")", 64 * mebibyte));
    return flood(floods.back());
  };
  expect_unharmed(fixture, special, "too_large");
  EXPECT_LE(floods.size(), 20u);
  for (const auto& each : floods) EXPECT_LE(each->sent, 10 * mebibyte);
}

TEST(HostileServer, AnErrorIsLimitedToOneMebibyte) {
  UplinkFixture fixture;
  ASSERT_TRUE(fixture.until(LinkState::connected));
  std::size_t size = mebibyte;
  fixture.servers[0]->special =
      [&size](const http::Request& request) -> std::optional<http::Response> {
    if (request.path() != "/api/v1/secrets") return std::nullopt;
    return json_response(500, std::string(size, 'x'));
  };
  const http::Response passed = fixture.ask("/api/v1/secrets", "kubectl");
  EXPECT_EQ(passed.status, 500);
  EXPECT_EQ(passed.body.size(), size);
  ++size;
  const http::Response refused = fixture.ask("/api/v1/secrets", "kubectl");
  EXPECT_EQ(refused.status, 429) << refused.body;
  EXPECT_EQ(fixture.state(), LinkState::connected);
  EXPECT_EQ(fixture.ask("/version").status, 200);
}

// Nothing of a write's answer is passed on before it is whole.
TEST(HostileServer, AnAnswerToAWriteIsLimited) {
  UplinkFixture fixture(small);
  ASSERT_TRUE(fixture.until(LinkState::connected));
  std::shared_ptr<Flood> answer;
  fixture.servers[0]->special = [&](const http::Request& request) -> std::optional<http::Response> {
    if (request.method != http::Method::post) return std::nullopt;
    answer = std::make_shared<Flood>("{", 64 * mebibyte);
    return flood(answer);
  };
  const http::Request write{.method = http::Method::post,
                            .target = "/api/v1/namespaces/a/secrets",
                            .headers = {{"User-Agent", "kubectl/v1"}},
                            .body = "{}"};
  EXPECT_EQ(fixture.ask(write).status, 507);
  EXPECT_LE(answer->sent, 8 * mebibyte) << "the limit, and what sockets buffer";
  EXPECT_EQ(fixture.state(), LinkState::connected);
  EXPECT_EQ(fixture.ask("/version").status, 200);
}

// The bytes received are charged to the budget, and the link counts the answer as a sign of life.
TEST(HostileServer, AnAnswerThatIsCutOffCountsForBudgetAndLink) {
  UplinkFixture fixture(small);
  ASSERT_TRUE(fixture.until(LinkState::connected));
  fixture.servers[0]->instead = http::Response{.status = 0};
  fixture.servers[0]->special = [](const http::Request& request) -> std::optional<http::Response> {
    if (request.path() != "/api/v1/secrets") return std::nullopt;
    return flood(std::make_shared<Flood>("{", 64 * mebibyte));
  };
  fixture.edge->uplink().probe_now();
  ASSERT_TRUE(fixture.until(LinkState::suspect));
  const auto received = [&fixture] {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < sync::autonomy::uplink_classes; ++i) {
      sum +=
          fixture.edge->uplink().bytes().cost(static_cast<sync::autonomy::UplinkClass>(i)).received;
    }
    return sum;
  };
  const std::uint64_t before = received();
  EXPECT_EQ(fixture.ask("/api/v1/secrets", "kubectl").status, 0) << "above the limit of the client";
  EXPECT_GE(received() - before, mebibyte);
  EXPECT_EQ(fixture.state(), LinkState::connected);
}

}  // namespace
}  // namespace holdfast::agent::uplink
