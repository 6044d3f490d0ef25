// A list that is too large for the cache, in memory and on disk: it is not read again and again for
// nothing.

#include <gtest/gtest.h>

#include "platform/text.h"
#include "test/unit/agent/edge/uplink/uplink_fixture.h"

namespace holdfast::agent::uplink::too_large {
namespace {

using sync::autonomy::LinkState;

const std::string secrets = "/api/v1/namespaces/a/secrets";
constexpr std::int64_t list_bytes_max = 1L << 20;

// Answers lists of the Secrets as an API server does, in pages. Each has 20 kB.
class Collection {
 public:
  explicit Collection(int count) : count_(count) {}

  void resize(int count) { count_ = count; }
  [[nodiscard]] int lists() const { return lists_; }  // first pages
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

  std::optional<http::Response> answer(const http::Request& request) {
    const Query query = Query::parse(request.query()).value();
    if (request.path() != secrets || query.flag("watch")) return std::nullopt;
    const int limit = parse_int<int>(query.get("limit")).value_or(count_);
    const int from = parse_int<int>(query.get("continue")).value_or(0);
    const int to = std::min(from + limit, count_);
    if (from == 0) ++lists_;
    std::string body = R"({"kind":"SecretList","apiVersion":"v1","metadata":{)";
    body += R"("resourceVersion":"100")";
    if (to < count_) body += R"(,"continue":")" + std::to_string(to) + '"';
    body += R"(},"items":[)";
    for (int i = from; i < to; ++i) {
      if (i > from) body += ',';
      body += R"({"metadata":{"name":"m)" + std::to_string(i);
      body += R"(","namespace":"a","uid":"u","resourceVersion":"50"},"data":{"a":")";
      body += std::string(20'000, 'x') + R"("}})";
    }
    body += "]}";
    bytes_ += body.size();
    return http::Response{
        .status = 200, .headers = {{"Content-Type", "application/json"}}, .body = std::move(body)};
  }

 private:
  int count_;
  int lists_ = 0;
  std::size_t bytes_ = 0;
};

class TooLarge : public ::testing::Test {
 protected:
  TooLarge() {
    fixture_.servers[0]->special = [this](const http::Request& request) {
      return collection_.answer(request);
    };
    EXPECT_TRUE(fixture_.until(LinkState::connected));
    const http::Response whole = fixture_.ask(secrets);
    EXPECT_EQ(whole.status, 200) << whole.body;
    fixture_.time.run(1min);
    EXPECT_TRUE(is_too_large());
  }

  [[nodiscard]] bool is_too_large() {
    return fixture_.admin("/v1/scopes").find(R"("state":"too_large")") != std::string::npos;
  }

  Collection collection_{100};
  UplinkFixture fixture_{{.set = [](EdgeOptions& options) {
    options.list_bytes_max = list_bytes_max;
    options.cache_disk_max = list_bytes_max;
    // Thousands of heartbeats would cost most of the time of these tests.
    options.lease_renew_interval = 5min;
    options.lease_duration = 20min;
  }}};
};

TEST_F(TooLarge, IsReadLessAndLess) {
  const auto bytes_in = [this](Duration time) {
    const std::size_t before = collection_.bytes();
    fixture_.time.run(time);
    return collection_.bytes() - before;
  };
  const std::size_t first_hour = bytes_in(1h);
  EXPECT_GT(first_hour, 0u);
  // After 1, 2, 4, 8, 16 and 32 minutes, each time up to a page more than the limit.
  EXPECT_LE(first_hour, 7u * 2 * list_bytes_max);
  EXPECT_LE(bytes_in(24h), 8u * 2 * list_bytes_max);
  EXPECT_TRUE(is_too_large());
}

TEST_F(TooLarge, IsNotReadBecauseOfACut) {
  fixture_.time.run(1h);
  const int lists = collection_.lists();
  for (int cut = 0; cut < 10; ++cut) {
    fixture_.cut_link();
    const MonoTime restored = fixture_.time.clock().mono();
    fixture_.restore_link();
    EXPECT_LE(fixture_.time.clock().mono() - restored, 10s) << "the rejoin does not wait for it";
  }
  EXPECT_EQ(collection_.lists(), lists);
  EXPECT_TRUE(is_too_large());
}

TEST_F(TooLarge, IsCachedOnceItFits) {
  fixture_.time.run(1h);
  const int lists = collection_.lists();
  collection_.resize(3);
  EXPECT_EQ(fixture_.ask(secrets + "?limit=2").status, 200);
  fixture_.time.run(1min);
  EXPECT_EQ(collection_.lists(), lists + 1) << "a page tells nothing of the whole";
  EXPECT_TRUE(is_too_large());
  EXPECT_EQ(fixture_.ask(secrets).status, 200);
  fixture_.time.run(1s);
  EXPECT_EQ(collection_.lists(), lists + 3) << "the client's, and the agent's";
  EXPECT_FALSE(is_too_large());
  fixture_.cut_link();
  EXPECT_EQ(fixture_.ask(secrets).status, 200);
}

TEST_F(TooLarge, IsCachedInTheEndIfNobodyAsks) {
  fixture_.time.run(1h);
  collection_.resize(5);
  fixture_.time.run(90min);
  EXPECT_FALSE(is_too_large());
}

}  // namespace
}  // namespace holdfast::agent::uplink::too_large
