// A server with HTTP/2 that requires HTTP/1.1 for some or all requests (HTTP_1_1_REQUIRED).

#include "platform/http/h2/engine.h"
#include "platform/loop/tasks.h"
#include "platform/text.h"
#include "test/support/answered.h"
#include "test/support/next_request.h"
#include "test/support/virtual_time.h"
#include "test/unit/platform/http2_pair.h"

namespace holdfast::http {
namespace {

enum class Reluctance : std::uint8_t { upgrades, everything, after_the_head };

// A server that records which requests came by HTTP/2 and which by HTTP/1.1: "GET /a".
class Reluctant final : public h2::Events {
 public:
  Reluctant(asio::any_io_executor executor, Reluctance how)
      : how_(how),
        tasks_(executor),
        listener_(net::Listener::open(executor, {"127.0.0.1", 0}, server_tls({"h2", "http/1.1"}))
                      .value()) {
    tasks_.spawn("accept", accept_all());
  }
  [[nodiscard]] Endpoint endpoint() const {
    return {.at = {"127.0.0.1", listener_->port()},
            .tls = tls::Context::for_client({.ca_pem = authority().certificate_pem()}).value()};
  }
  asio::awaitable<void> stop() {
    listener_->close();
    tasks_.cancel();
    co_await tasks_.join();
  }

  void on_settings() override {}
  void on_headers(h2::StreamId id, h2::Block block) override {
    const std::string path(block.fields.get(":path"));
    by_http2.push_back(std::string(block.fields.get(":method")) + " " + path);
    if (how_ == Reluctance::upgrades && path.find("/exec") == std::string::npos) {
      return engine_->respond(id, {{":status", "204"}}, true);
    }
    if (how_ == Reluctance::after_the_head) {
      engine_->respond(id, {{":status", "200"}}, false);
      engine_->send(id, "half", false);
      refused_ = id;
      return;
    }
    engine_->reset(id, h2::Code::http_1_1_required);
    if (how_ == Reluctance::everything) engine_->goaway(h2::Code::http_1_1_required);
  }
  void on_data(h2::StreamId, std::string_view) override {}
  void on_end(h2::StreamId) override {}
  void on_sent(h2::StreamId) override {}
  void on_closed(h2::StreamId, h2::Code) override {}
  void on_goaway(h2::Code) override {}

  std::vector<std::string> by_http2;
  std::vector<std::string> by_http1;

 private:
  asio::awaitable<void> accept_all() {
    for (;;) {
      auto pending = co_await listener_->accept();
      if (!pending) co_return;
      auto made = co_await (*pending)->establish(MonoTime::max());
      if (!made) continue;
      std::shared_ptr<net::Connection> connection = *std::move(made);
      if (connection->protocol() == "h2") {
        tasks_.spawn("h2", speak_http2(connection));
      } else {
        tasks_.spawn("h1", speak_http1(connection));
      }
    }
  }

  asio::awaitable<void> speak_http2(std::shared_ptr<net::Connection> connection) {
    h2::Engine engine(h2::Engine::Role::server, {}, *this);
    std::array<char, 4096> buffer{};
    for (;;) {
      engine_ = &engine;
      const std::string out = engine.take_output();
      if (!out.empty()) (void)co_await connection->write(out);
      if (refused_ != 0 && out.empty()) {
        engine.reset(std::exchange(refused_, 0), h2::Code::http_1_1_required);
        continue;
      }
      if (!out.empty()) continue;
      const auto count = co_await connection->read_some(buffer);
      if (!count || *count == 0) co_return;
      engine_ = &engine;
      (void)engine.receive(std::string_view(buffer.data(), *count));
    }
  }

  asio::awaitable<void> speak_http1(std::shared_ptr<net::Connection> connection) {
    RequestReader reader{ReaderLimits{}};
    for (;;) {
      const auto request = co_await test::next_request(*connection, reader);
      if (!request) co_return;
      by_http1.push_back(request->method_text + " " + request->target + " " + request->body);
      const std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nold";
      (void)co_await connection->write(answer);
    }
  }

  Reluctance how_;
  loop::Tasks tasks_;
  std::unique_ptr<net::Listener> listener_;
  h2::Engine* engine_ = nullptr;
  h2::StreamId refused_ = 0;
};

struct Downgrade {
  explicit Downgrade(Reluctance how) : server(time.executor(), how) {}
  ~Downgrade() {
    client.forget_connections();
    time.complete(server.stop());
    time.settle();
  }
  Response ask(Method method, const std::string& target, const std::string& body = "") {
    Response answer;
    const Request request{.method = method, .target = target, .body = body};
    time.complete(test::answer_into(client, request, time.clock().mono() + 10s, answer));
    return answer;
  }
  test::VirtualTime time;
  Reluctant server;
  Client client{server.endpoint()};
};

using Came = std::vector<std::string>;

TEST(Http2Downgrade, OneKindOfRequestGoesOverHttp1AndStaysThere) {
  Downgrade fixture(Reluctance::upgrades);
  EXPECT_EQ(fixture.ask(Method::get, "/pods/a").status, 204);
  EXPECT_EQ(fixture.ask(Method::post, "/pods/a/exec?x=1", "whole body").body, "old");
  EXPECT_EQ(fixture.server.by_http1, Came{"POST /pods/a/exec?x=1 whole body"});
  EXPECT_EQ(fixture.ask(Method::post, "/pods/b/exec").body, "old");
  EXPECT_EQ(fixture.ask(Method::get, "/pods/b").status, 204);
  EXPECT_EQ(fixture.ask(Method::get, "/pods/b/exec").body, "old")
      << "another method is tried over HTTP/2 once";
  EXPECT_EQ(fixture.server.by_http2,
            (Came{"GET /pods/a", "POST /pods/a/exec?x=1", "GET /pods/b", "GET /pods/b/exec"}));
  EXPECT_EQ(fixture.server.by_http1.size(), 3u);
  // On a new connection the server may be another one, so everything is tried again.
  fixture.client.forget_connections();
  EXPECT_EQ(fixture.ask(Method::post, "/pods/b/exec").body, "old");
  EXPECT_EQ(fixture.server.by_http2.size(), 5u);
}

TEST(Http2Downgrade, AServerMayWantEverythingOverHttp1) {
  Downgrade fixture(Reluctance::everything);
  for (const char* target : {"/a", "/b", "/c"}) {
    EXPECT_EQ(fixture.ask(Method::get, target).body, "old") << target;
  }
  EXPECT_EQ(fixture.server.by_http2, Came{"GET /a"});
  EXPECT_EQ(fixture.server.by_http1, (Came{"GET /a ", "GET /b ", "GET /c "}));
}

TEST(Http2Downgrade, WhatIsHalfAnsweredIsNotSentAgain) {
  Downgrade fixture(Reluctance::after_the_head);
  const Response answer = fixture.ask(Method::get, "/a");
  EXPECT_EQ(answer.status, 0);
  EXPECT_NE(answer.body.find("HTTP_1_1_REQUIRED"), std::string::npos) << answer.body;
  EXPECT_EQ(fixture.server.by_http1, Came{});
}

}  // namespace
}  // namespace holdfast::http
