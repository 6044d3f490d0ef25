// Which kept connection carries which request, and what happens when the server sends more than one
// answer.

#include <deque>

#include "platform/http/client.h"
#include "platform/http/h1_exchange.h"
#include "platform/loop/tasks.h"
#include "test/support/echo.h"
#include "test/support/next_request.h"
#include "test/support/virtual_time.h"
#include "test/unit/platform/http2_pair.h"

namespace holdfast::http {
namespace {

const std::string hello_answer = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
const std::string secret_answer = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret";

// Answers each request, on any connection, with the next bytes of its script.
class Talker {
 public:
  Talker(asio::any_io_executor executor, std::deque<std::string> script, bool secure = false)
      : script_(std::move(script)),
        tasks_(executor),
        secure_(secure),
        listener_(net::Listener::open(executor, {"127.0.0.1", 0},
                                      secure ? server_tls({"http/1.1"}) : nullptr)
                      .value()) {
    tasks_.spawn("accept", accept_all());
  }
  [[nodiscard]] Endpoint endpoint() const {
    Endpoint made{.at = {"127.0.0.1", listener_->port()}};
    if (secure_)
      made.tls = tls::Context::for_client({.ca_pem = authority().certificate_pem()}).value();
    return made;
  }
  void close() { listener_->close(); }
  void cancel() { tasks_.cancel(); }
  // Sends bytes on the newest connection without a request.
  asio::awaitable<void> blurt(std::string bytes) { (void)co_await last_->write(bytes); }

  std::vector<std::string> heard;  // the number of the connection, and the request
  std::string expectation;         // the Expect header of the last request

 private:
  asio::awaitable<void> accept_all() {
    for (int number = 1;; ++number) {
      auto pending = co_await listener_->accept();
      if (!pending) co_return;
      auto made = co_await (*pending)->establish(MonoTime::max());
      if (!made) continue;
      last_ = *std::move(made);
      tasks_.spawn("answer", answer_all(last_, number));
    }
  }

  asio::awaitable<void> answer_all(std::shared_ptr<net::Connection> connection, int number) {
    RequestReader reader{ReaderLimits{}};
    for (;;) {
      const auto request = co_await test::next_request(*connection, reader);
      if (!request) co_return;
      heard.push_back(std::to_string(number) + " " + request->target);
      expectation = request->headers.get("expect");
      if (script_.empty()) co_return;
      const std::string bytes = script_.front();
      script_.pop_front();
      (void)co_await connection->write(bytes);
    }
  }

  std::deque<std::string> script_;
  loop::Tasks tasks_;
  bool secure_;
  std::unique_ptr<net::Listener> listener_;
  std::shared_ptr<net::Connection> last_;
};

asio::awaitable<void> ask_server(Client& client, Request request, bool streamed,
                                 std::string& into) {
  const MonoTime deadline = loop::clock_of(co_await asio::this_coro::executor).mono() + 5s;
  const auto verb = streamed ? &Client::open : &Client::send;
  const auto answer = co_await (client.*verb)(std::move(request), deadline);
  into = answer ? std::to_string(answer->status) + " " + answer->body
                : std::string(to_string(answer.error().code));
}

struct PoolFixture {
  explicit PoolFixture(std::deque<std::string> script, bool secure = false)
      : talker(time.executor(), std::move(script), secure), client(talker.endpoint()) {}
  ~PoolFixture() {
    // Not at the same time: a task must not be cancelled while it ends.
    client.forget_connections();
    time.settle();
    talker.close();
    time.settle();
    talker.cancel();
    time.settle();
  }
  PoolFixture(const PoolFixture&) = delete;
  PoolFixture& operator=(const PoolFixture&) = delete;

  std::string ask(Request request, bool streamed = false) {
    std::string said;
    time.complete(ask_server(client, std::move(request), streamed, said));
    return said;
  }
  std::string ask(std::string target) { return ask(Request{.target = std::move(target)}); }

  test::VirtualTime time;
  Talker talker;
  Client client;
};

using Heard = std::vector<std::string>;

TEST(HttpPool, ARequestThatWasGivenUpDoesNotArriveWhenTheLinkReturns) {
  for (const bool is_cancelled : {false, true}) {
    SCOPED_TRACE(is_cancelled);
    PoolFixture fixture({hello_answer, hello_answer, hello_answer});
    const net::HostPort at = fixture.client.endpoint().at;
    EXPECT_EQ(fixture.ask("/first"), "200 hello");
    fixture.time.network().set_link(at, {.is_silent = true});
    std::string told;
    loop::Tasks tasks(fixture.time.executor());
    tasks.spawn("late", ask_server(fixture.client, Request{.target = "/late"}, true, told));
    fixture.time.run(1s);
    if (is_cancelled) tasks.cancel();
    fixture.time.run(30s);
    EXPECT_EQ(told, is_cancelled ? "" : "timeout");
    fixture.time.network().set_link(at, {});
    fixture.time.run(10min);
    EXPECT_EQ(fixture.talker.heard, (Heard{"1 /first"}));
    EXPECT_EQ(fixture.ask("/next"), "200 hello");
    EXPECT_EQ(fixture.talker.heard, (Heard{"1 /first", "2 /next"}));
  }
}

TEST(HttpPool, AConnectionCarriesTheNextRequestOfTheSameIdentityOnly) {
  PoolFixture fixture(
      {hello_answer, hello_answer, hello_answer, hello_answer, hello_answer, hello_answer});
  const auto as = [&fixture](Headers headers) {
    return fixture.ask(Request{.target = "/", .headers = std::move(headers)});
  };
  EXPECT_EQ(as({{"Authorization", "Bearer a"}}), "200 hello");
  EXPECT_EQ(as({{"Authorization", "Bearer b"}}), "200 hello");
  EXPECT_EQ(as({}), "200 hello");
  EXPECT_EQ(as({{"Authorization", "Bearer a"}, {"Impersonate-User", "u"}}), "200 hello");
  EXPECT_EQ(as({{"Authorization", "Bearer a"}, {"User-Agent", "x"}}), "200 hello");
  EXPECT_EQ(as({}), "200 hello");
  EXPECT_EQ(fixture.talker.heard, (Heard{"1 /", "2 /", "3 /", "4 /", "1 /", "3 /"}));
}

TEST(HttpPool, AnIdentityIsTakenFromTheHeadersAndHidesThem) {
  const Request one{.headers = {{"Authorization", "Bearer secret"}}};
  const Request two{.headers = {{"authorization", "Bearer secret"}, {"Accept", "a"}}};
  const Request three{.headers = {{"Authorization", "Bearer secreu"}}};
  EXPECT_EQ(h1::identity_of(one), h1::identity_of(two));
  EXPECT_NE(h1::identity_of(one), h1::identity_of(three));
  EXPECT_EQ(h1::identity_of(one).find("secret"), std::string::npos);
  EXPECT_EQ(h1::identity_of({}), "");
}

TEST(HttpPool, KeptConnectionsAreBoundedOverAllIdentities) {
  test::VirtualTime time;
  h1::Pool pool{.limits = {.idle_connections = 2, .idle_total = 3, .idle = 60s}};
  const auto keep = [&](std::string identity) {
    pool.keep(std::make_shared<test::Echo>(time.executor()), std::move(identity),
              time.clock().mono());
  };
  for (const char* identity : {"a", "a", "a", "b", "c", "d"}) keep(identity);
  EXPECT_EQ(pool.kept.size(), 3u);
  EXPECT_EQ(pool.take("a", time.clock().mono()), nullptr);
  EXPECT_NE(pool.take("d", time.clock().mono()), nullptr);
  EXPECT_EQ(pool.take("d", time.clock().mono()), nullptr);
}

TEST(HttpPool, NoConnectionIsKeptWhereNoneMayBe) {
  test::VirtualTime time;
  h1::Pool pool{.limits = {.idle_connections = 0, .idle_total = 3, .idle = 60s}};
  for (const char* identity : {"a", "a", "b"}) {
    pool.keep(std::make_shared<test::Echo>(time.executor()), identity, time.clock().mono());
    EXPECT_TRUE(pool.kept.empty());
  }
}

TEST(HttpPool, AnInterimAnswerIsNotTheAnswer) {
  for (const bool streamed : {false, true}) {
    PoolFixture fixture({"HTTP/1.1 100 Continue\r\n\r\n" + hello_answer, hello_answer});
    Request request{.method = Method::post, .target = "/1", .body = "x"};
    request.headers.add("Expect", "100-continue");
    EXPECT_EQ(fixture.ask(request, streamed).substr(0, 3), "200");
    EXPECT_EQ(fixture.talker.expectation, "") << "our client does not forward Expect";
    EXPECT_EQ(fixture.ask("/2"), "200 hello");
  }
}

TEST(HttpPool, WhatAnAnswerLeavesBehindIsNoAnswer) {
  struct {
    const char* what;
    std::string first;
    Method method = Method::get;
  } const cases[] = {
      {"a second answer", hello_answer + secret_answer},
      {"a byte", hello_answer + "\n"},
      {"the body of a 204", "HTTP/1.1 204 x\r\nContent-Length: 5\r\n\r\n"},
      {"the body for HEAD", hello_answer, Method::head},
      {"a close", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"},
      {"HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n"},
      {"bytes behind chunks",
       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + secret_answer},
      {"bytes behind a 304", "HTTP/1.1 304 x\r\nContent-Length: 38\r\n\r\n" + secret_answer},
  };
  for (const bool secure : {false, true}) {
    for (const auto& c : cases) {
      SCOPED_TRACE(c.what);
      PoolFixture fixture({c.first, hello_answer}, secure);
      (void)fixture.ask(Request{.method = c.method, .target = "/1"});
      EXPECT_EQ(fixture.ask("/2"), "200 hello");
      EXPECT_EQ(fixture.talker.heard, (Heard{"1 /1", "2 /2"}));
    }
  }
}

TEST(HttpPool, AServerThatSpeaksUnaskedIsNotAskedAgain) {
  for (const bool secure : {false, true}) {
    PoolFixture fixture({hello_answer, hello_answer}, secure);
    EXPECT_EQ(fixture.ask("/1"), "200 hello");
    fixture.time.complete(fixture.talker.blurt(secret_answer));
    EXPECT_EQ(fixture.ask(Request{.method = Method::post, .target = "/2"}), "200 hello");
    EXPECT_EQ(fixture.talker.heard, (Heard{"1 /1", "2 /2"}));
  }
}

TEST(HttpPool, AnUpgradeThatNobodyAskedForIsAnError) {
  const std::string upgraded = "HTTP/1.1 101 x\r\nConnection: Upgrade\r\nUpgrade: t\r\n\r\n";
  const Headers upgrade{{"Connection", "Upgrade"}, {"Upgrade", "t"}};
  struct {
    const char* what;
    Headers headers;
    bool streamed;
    std::string answer;
  } const cases[] = {
      {"not asked for", {}, true, "corrupt"},
      {"asked for by one who takes no tunnel", upgrade, false, "corrupt"},
      {"asked for, to another HTTP", {{"Upgrade", "h2c"}}, true, "corrupt"},
      {"asked for", upgrade, true, "101 "},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.what);
    PoolFixture fixture({upgraded, hello_answer});
    EXPECT_EQ(fixture.ask(Request{.target = "/1", .headers = c.headers}, c.streamed), c.answer);
    EXPECT_EQ(fixture.ask("/2"), "200 hello");
    EXPECT_EQ(fixture.talker.heard, (Heard{"1 /1", "2 /2"}));
  }
}

TEST(HttpPool, ARequestThatCannotBeWrittenIsNotBegun) {
  PoolFixture fixture({hello_answer});
  EXPECT_EQ(fixture.ask("/a HTTP/1.1\r\nHost: x\r\n\r\nGET /secret"), "invalid");
  EXPECT_EQ(fixture.ask(Request{.target = "/", .headers = {{"X", "a\r\nY: b"}}}), "invalid");
  EXPECT_TRUE(fixture.talker.heard.empty());
}

}  // namespace
}  // namespace holdfast::http
