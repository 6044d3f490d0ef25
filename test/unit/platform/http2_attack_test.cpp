// What our HTTP/2 server refuses: too many or too large requests, resets, idle and slow clients.

#include "platform/http/h2/engine.h"
#include "platform/loop/tasks.h"
#include "test/support/run.h"
#include "test/support/virtual_time.h"
#include "test/unit/platform/http2_pair.h"

namespace holdfast::http {
namespace {

TEST(Http2, WhatIsOverTheLimitIsRefusedByName) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    ServerLimits limits;
    limits.reader = {.header_bytes = 1000, .body_bytes = 100'000};
    Pair pair(context, limits);
    Client client(pair.endpoint());
    Request bulky{.target = "/a"};
    bulky.headers.add("x", std::string(2000, 'x'));
    const auto headers = co_await client.send(bulky, soon());
    EXPECT_EQ(headers ? headers->status : 0, 431);
    Request large{.method = Method::put, .target = "/a", .body = std::string(5'000'000, 'x')};
    const auto body = co_await client.send(large, soon());
    EXPECT_EQ(body ? body->status : 0, 413);
    Request good{.target = "/a"};
    const auto answer = co_await client.send(good, soon());
    EXPECT_TRUE(answer.has_value());
    EXPECT_EQ(pair.server.connections(), 1u) << "the refusal does not affect the connection";
    co_await pair.server.stop(soon());
  });
}

// A client that does exactly what the test tells it, including what no client should do.
class Caller final : public h2::Events {
 public:
  explicit Caller(h2::EngineLimits limits = {}) : engine(h2::Engine::Role::client, limits, *this) {}

  asio::awaitable<void> connect(Endpoint to) {
    static constexpr std::array<std::string_view, 1> protocols{"h2"};
    auto made = co_await net::connect(to.at, to.tls, MonoTime::max(), protocols);
    connection = *std::move(made);
    co_await speak();
  }
  // Sends what the engine has to say, and then bytes of which it knows nothing.
  asio::awaitable<void> speak(std::string more = {}) {
    const std::string bytes = engine.take_output() + more;
    const Status sent = co_await connection->write(bytes);
    if (!sent) gone = true;
  }
  asio::awaitable<void> listen() {
    std::array<char, 4096> buffer{};
    while (!gone) {
      const auto count = co_await connection->read_some(buffer);
      gone = !count || *count == 0;
      if (gone) co_return;
      (void)engine.receive(std::string_view(buffer.data(), *count));
      co_await speak();
    }
  }
  h2::StreamId request(const std::string& path, std::string body = {}) {
    const Headers fields{{":method", body.empty() ? "GET" : "PUT"},
                         {":scheme", "https"},
                         {":path", path},
                         {":authority", "x"}};
    return engine.request(fields, std::move(body)).value_or(0);
  }

  void on_settings() override {}
  void on_headers(h2::StreamId, h2::Block block) override {
    statuses.emplace_back(block.fields.get(":status"));
  }
  void on_data(h2::StreamId, std::string_view bytes) override { read += bytes.size(); }
  void on_end(h2::StreamId) override {}
  void on_sent(h2::StreamId) override {}
  void on_closed(h2::StreamId, h2::Code code) override { closed.push_back(code); }
  void on_goaway(h2::Code code) override { goaway = code; }

  h2::Engine engine;
  std::unique_ptr<net::Connection> connection;
  bool gone = false;
  std::size_t read = 0;
  std::vector<h2::Code> closed;
  std::vector<std::string> statuses;
  std::optional<h2::Code> goaway;
};

struct Http2AttackFixture {
  explicit Http2AttackFixture(h2::EngineLimits limits = {}) : pair(time.context()), caller(limits) {
    time.complete(caller.connect(pair.endpoint()));
  }
  ~Http2AttackFixture() {
    time.complete(pair.server.stop(time.clock().mono() + 1s));
    caller.connection->close();
    tasks.cancel();
    time.settle();
  }
  Http2AttackFixture(const Http2AttackFixture&) = delete;
  Http2AttackFixture& operator=(const Http2AttackFixture&) = delete;

  test::VirtualTime time;
  Pair pair;
  Caller caller;
  loop::Tasks tasks{time.executor()};
};

// A WINDOW_UPDATE that ends its stream: the window grows over its maximum (RFC 9113, 6.9.1).
std::string excessive_window(h2::StreamId id) {
  std::string frame{"\0\0\4\x8\0", 5};
  for (const int shift : {24, 16, 8, 0}) frame += static_cast<char>((id >> shift) & 0xff);
  return frame + "\x7f\xff\xff\xff";
}

// A hundred requests arrive at once. The first of their answers and another connection do not wait
// until all of them are handled.
TEST(Http2, RequestsOfOneConnectionTakeTurnsWithTheirAnswersAndWithOthers) {
  constexpr int requests = 100;
  Http2AttackFixture fixture;
  Caller other;
  fixture.time.complete(other.connect(fixture.pair.endpoint()));
  fixture.time.settle();
  std::vector<std::size_t> answered_before;
  std::vector<std::size_t> other_before;
  fixture.pair.on_request = [&] {
    answered_before.push_back(fixture.caller.statuses.size());
    other_before.push_back(other.statuses.size());
  };
  for (int number = 0; number < requests; ++number) (void)fixture.caller.request("/a");
  fixture.tasks.spawn("listen", fixture.caller.listen());
  fixture.tasks.spawn("listen", other.listen());
  (void)other.request("/a");
  fixture.tasks.spawn("speak", fixture.caller.speak());
  fixture.tasks.spawn("speak", other.speak());
  fixture.time.settle();
  ASSERT_EQ(answered_before.size(), requests + 1U);
  EXPECT_EQ(fixture.caller.statuses.size(), requests);
  EXPECT_GT(answered_before[requests / 2], 0U) << "half of the requests were begun";
  EXPECT_EQ(other_before[requests / 2], 1U);
  other.connection->close();
  fixture.time.settle();  // its task ends before it does
}

// Settings that a server never acknowledges must not pile up.
TEST(Http2, OneChangeOfTheSettingsWaitsForItsAcknowledgement) {
  Caller caller;
  const auto said = [&caller](std::uint32_t window) {
    caller.engine.set_stream_window(window);
    return caller.engine.take_output().size();
  };
  constexpr std::size_t frame = 9 + 6;  // a head and one setting
  const std::string settings("\0\0\0\4\0\0\0\0\0", 9);
  const std::string acknowledged("\0\0\0\4\1\0\0\0\0", 9);
  EXPECT_GT(caller.engine.take_output().size(), frame) << "the preface and the first settings";
  EXPECT_EQ(said(20'000), 0u);
  EXPECT_TRUE(caller.engine.receive(settings));
  EXPECT_EQ(caller.engine.take_output().size(), acknowledged.size());
  EXPECT_EQ(said(30'000), 0u);
  EXPECT_TRUE(caller.engine.receive(acknowledged));
  EXPECT_EQ(caller.engine.take_output().size(), frame);
  for (std::uint32_t window = 1; window < 1000; ++window) EXPECT_EQ(said(window), 0u);
  EXPECT_TRUE(caller.engine.receive(acknowledged));
  EXPECT_EQ(caller.engine.take_output().size(), frame) << "the last of them alone";
  EXPECT_TRUE(caller.engine.receive(acknowledged));
  EXPECT_EQ(said(999), 0u) << "it holds already";
}

TEST(Http2, RapidResetsCostTheAttackerHisConnection) {
  const struct {
    const char* how;
    bool provokes;  // breaks the protocol, so that the server resets the stream
    bool reads;
  } rows[] = {{"resets", false, true},
              {"resets and reads nothing", false, false},
              {"provokes resets", true, true},
              {"provokes resets and reads nothing", true, false}};
  for (const auto& row : rows) {
    Http2AttackFixture fixture;
    if (row.reads) fixture.tasks.spawn("listen", fixture.caller.listen());
    const MonoTime begin = fixture.time.clock().mono();
    int requests = 0;
    std::size_t accepted = 0;
    for (; fixture.pair.server.connections() > 0 && requests < 1000; ++requests) {
      const h2::StreamId id = fixture.caller.request("/watch");
      if (id == 0) break;
      fixture.time.complete(fixture.caller.speak());
      if (row.provokes) {
        fixture.time.complete(fixture.caller.speak(excessive_window(id)));
      } else {
        fixture.caller.engine.reset(id, h2::Code::cancel);
        fixture.time.complete(fixture.caller.speak());
      }
      accepted = fixture.pair.watches.size();
    }
    EXPECT_LE(accepted, 250u) << row.how;
    EXPECT_GT(accepted, 0u) << row.how;
    if (row.reads) {
      EXPECT_LE(requests, 250) << row.how;
      EXPECT_EQ(fixture.caller.goaway, h2::Code::enhance_your_calm) << row.how;
    }
    fixture.time.run(ServerLimits{}.send + 1s);
    EXPECT_EQ(fixture.pair.server.connections(), 0u) << row.how;
    EXPECT_LT(fixture.time.clock().mono() - begin, 60s) << row.how;
  }
}

TEST(Http2, ResetsAtTheRateOfAKubeletAreNoAttack) {
  Http2AttackFixture fixture;
  fixture.tasks.spawn("listen", fixture.caller.listen());
  for (int request = 0; request < 1000; ++request) {
    const h2::StreamId id = fixture.caller.request("/watch");
    fixture.time.complete(fixture.caller.speak());
    fixture.time.run(40ms);
    fixture.caller.engine.reset(id, h2::Code::cancel);
    fixture.time.complete(fixture.caller.speak());
  }
  EXPECT_EQ(fixture.pair.server.connections(), 1u);
}

// The watches of a connection all fail at once when the uplink breaks, and again when it returns.
TEST(Http2, ResetsByTheServerAreNotTheCallersFault) {
  Http2AttackFixture fixture;
  fixture.tasks.spawn("listen", fixture.caller.listen());
  for (int round = 0; round < 5; ++round) {
    for (int request = 0; request < 100; ++request) (void)fixture.caller.request("/watch");
    fixture.time.complete(fixture.caller.speak());
    fixture.time.settle();
    for (const auto& watch : fixture.pair.watches) watch->cancel();
    fixture.time.settle();
  }
  EXPECT_EQ(fixture.caller.closed, std::vector<h2::Code>(500, h2::Code::internal_error));
  EXPECT_EQ(fixture.pair.server.connections(), 1u);
}

TEST(Http2, WhatIsNoPathIsRefused) {
  using Statuses = std::vector<std::string>;
  const std::string secret = "/a HTTP/1.1\r\nHost: x\r\n\r\nGET /secret";
  for (const std::string& path :
       {std::string("a"), std::string("*"), std::string("http://x/"), std::string("/a b"),
        std::string("/a#b"), std::string("/\x7f"), std::string("/\xc3\xa4"), secret}) {
    Http2AttackFixture fixture;
    fixture.tasks.spawn("listen", fixture.caller.listen());
    (void)fixture.caller.request(path);
    fixture.time.complete(fixture.caller.speak());
    fixture.time.run(1s);
    const bool reset = fixture.caller.statuses.empty() &&
                       fixture.caller.closed == std::vector{h2::Code::protocol_error};
    EXPECT_TRUE(reset || fixture.caller.statuses == Statuses{"400"}) << path;
    (void)fixture.caller.request("/a");
    fixture.time.complete(fixture.caller.speak());
    fixture.time.run(1s);
    EXPECT_TRUE(!fixture.caller.statuses.empty() && fixture.caller.statuses.back() == "200")
        << path;
  }
}

TEST(Http2, AnIdleCallerIsSentAway) {
  Http2AttackFixture fixture;
  fixture.tasks.spawn("listen", fixture.caller.listen());
  const ServerLimits limits;
  fixture.time.run(limits.idle - 5s);
  EXPECT_FALSE(fixture.caller.gone);
  fixture.time.run(10s);
  EXPECT_TRUE(fixture.caller.gone);
  EXPECT_EQ(fixture.caller.goaway, h2::Code::no_error);
}

TEST(Http2, ARequestThatDoesNotComeToItsEndIsGivenUp) {
  Http2AttackFixture fixture;
  (void)fixture.caller.request("/a", std::string(100'000, 'x'));
  fixture.time.complete(fixture.caller.speak());  // only the beginning of the request
  const ServerLimits limits;
  fixture.time.run(limits.receive + 1s);
  EXPECT_TRUE(fixture.caller.closed.empty());
  fixture.tasks.spawn("listen", fixture.caller.listen());
  fixture.time.run(1s);
  EXPECT_EQ(fixture.caller.closed, std::vector<h2::Code>{h2::Code::cancel});
}

TEST(Http2, AReaderThatTakesNothingLosesHisStreamOnly) {
  Http2AttackFixture fixture({.stream_window = 20'000});
  fixture.tasks.spawn("listen", fixture.caller.listen());
  (void)fixture.caller.request("/flood");
  (void)fixture.caller.request("/watch");
  fixture.time.complete(fixture.caller.speak());
  const ServerLimits limits;
  fixture.time.run(limits.send + 5s);
  EXPECT_EQ(fixture.caller.closed, std::vector<h2::Code>{h2::Code::cancel});
  EXPECT_EQ(fixture.caller.read, 20'000 + std::string_view("event\n").size());
  EXPECT_FALSE(fixture.caller.gone);
}

}  // namespace
}  // namespace holdfast::http
