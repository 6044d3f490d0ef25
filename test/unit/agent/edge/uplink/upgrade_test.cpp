// exec, attach, port-forward and logs through the agent: SPDY and WebSocket, to an API server with
// TLS that prefers HTTP/2.

#include <gtest/gtest.h>

#include <array>
#include <fstream>

#include "test/support/certificates.h"
#include "test/support/echo.h"
#include "test/unit/agent/edge/uplink/uplink_fixture.h"

namespace holdfast::agent::uplink {
namespace {

using sync::autonomy::LinkState;

const std::string pod_p = "/api/v1/namespaces/a/pods/p";

UplinkFixtureOptions with_http2() {
  static const test::Authority authority("ca");
  static const std::string file = [] {
    static const test::ScratchDir dir;
    std::ofstream(dir.path() / "ca.crt") << authority.certificate_pem();
    return (dir.path() / "ca.crt").string();
  }();
  const test::Subject subject{.common_name = "server", .names = {"IP:127.0.0.1"}};
  auto tls = tls::Context::for_server(
      {.identity = authority.sign(subject), .protocols = {"h2", "http/1.1"}});
  return {.tls = tls.value(), .cluster = "certificate-authority: " + file};
}

http::Request upgrade(http::Method method, const std::string& what, http::Headers headers) {
  http::Request request{.method = method, .target = pod_p + "/" + what};
  request.headers = std::move(headers);
  request.headers.add("Connection", "Upgrade");
  request.headers.add("User-Agent", "kubectl/v1");
  return request;
}

asio::awaitable<void> talk(std::shared_ptr<net::Connection> tunnel, std::string say,
                           std::string& heard) {
  const Status said = co_await tunnel->write(say);
  if (!said) co_return;
  std::array<char, 4096> buffer{};
  const auto count = co_await tunnel->read_some(buffer);
  heard.assign(buffer.data(), count.value_or(0));
}

std::string say(UplinkFixture& fixture, const http::Response& opened, const std::string& text) {
  std::string heard;
  fixture.time.complete(talk(opened.tunnel, text, heard));
  return heard;
}

TEST(Upgrade, BytesGoBothWaysWhateverIsSpoken) {
  struct Row {
    http::Method method;
    std::string what;
    http::Headers headers;
  };
  const Row rows[] = {
      {http::Method::post,
       "exec?command=sh&stdin=true&stdout=true",
       {{"Upgrade", "SPDY/3.1"},
        {"X-Stream-Protocol-Version", "v5.channel.k8s.io"},
        {"X-Stream-Protocol-Version", "v4.channel.k8s.io"}}},
      {http::Method::get,
       "exec?command=sh&stdin=true",
       {{"Upgrade", "websocket"},
        {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="},
        {"Sec-WebSocket-Version", "13"},
        {"Sec-WebSocket-Protocol", "v5.channel.k8s.io"}}},
      {http::Method::post, "attach?stdin=true", {{"Upgrade", "SPDY/3.1"}}},
      {http::Method::post, "portforward", {{"Upgrade", "SPDY/3.1"}}},
  };
  for (const bool http2 : {false, true}) {
    UplinkFixture fixture(http2 ? with_http2() : UplinkFixtureOptions{});
    ASSERT_TRUE(fixture.until(LinkState::connected));
    for (const Row& row : rows) {
      SCOPED_TRACE(row.what + (http2 ? " h2" : ""));
      const auto far = std::make_shared<test::Echo>(fixture.time.executor());
      http::Headers came;
      fixture.servers[0]->special =
          [&came, far](const http::Request& asked) -> std::optional<http::Response> {
        if (!asked.headers.has("upgrade")) return std::nullopt;
        came = asked.headers;
        return http::Response{.status = 101,
                              .headers = {{"Connection", "Upgrade"},
                                          {"Upgrade", std::string(asked.headers.get("upgrade"))},
                                          {"X-Stream-Protocol-Version", "v4.channel.k8s.io"}},
                              .tunnel = far};
      };
      const http::Response opened = fixture.ask(upgrade(row.method, row.what, row.headers));
      ASSERT_EQ(opened.status, 101) << opened.body;
      EXPECT_EQ(opened.headers.get("upgrade"), row.headers.get("upgrade"));
      EXPECT_EQ(opened.headers.get("connection"), "Upgrade");
      EXPECT_EQ(opened.headers.get("x-stream-protocol-version"), "v4.channel.k8s.io");
      for (const http::Header& sent : row.headers) {
        EXPECT_EQ(std::count(came.begin(), came.end(), sent), 1)
            << sent.name << " must be forwarded unchanged";
      }
      ASSERT_TRUE(opened.tunnel);
      const std::string every_byte = std::string("\x80\x03\x00\x01", 4) + "\xff text";
      EXPECT_EQ(say(fixture, opened, every_byte), every_byte);
      EXPECT_EQ(say(fixture, opened, "more"), "more");
      opened.tunnel->close();
      fixture.time.run(1s);
      EXPECT_TRUE(far->closed());
    }
    EXPECT_EQ(fixture.state(), LinkState::connected);
  }
}

TEST(Upgrade, ARefusalIsPassedOnAsItIs) {
  struct Row {
    int status;
    std::string type;
    std::string body;
  };
  const Row rows[] = {
      {403, "application/json", R"({"kind":"Status","code":403,"message":"no"})"},
      {400, "text/plain", "unable to upgrade: container not found (\"c\")"},
      {404, "application/json", R"({"kind":"Status","code":404})"},
      {500, "application/json",
       R"({"kind":"Status","code":500,"message":"error dialing backend"})"},
  };
  UplinkFixture fixture(with_http2());
  ASSERT_TRUE(fixture.until(LinkState::connected));
  for (const Row& row : rows) {
    fixture.servers[0]->special =
        [&row](const http::Request& asked) -> std::optional<http::Response> {
      if (!asked.headers.has("upgrade")) return std::nullopt;
      return http::Response{.status = row.status,
                            .headers = {{"Content-Type", row.type}, {"Audit-Id", "1"}},
                            .body = row.body};
    };
    const http::Response refused =
        fixture.ask(upgrade(http::Method::post, "exec", {{"Upgrade", "SPDY/3.1"}}));
    EXPECT_EQ(refused.status, row.status);
    EXPECT_EQ(refused.headers.get("content-type"), row.type);
    EXPECT_EQ(refused.body, row.body);
    EXPECT_FALSE(refused.tunnel);
  }
  EXPECT_EQ(fixture.state(), LinkState::connected);
}

// If the kubelet behind the API server does not answer, the link to the API server is still good.
TEST(Upgrade, AKubeletsSilenceSaysNothingAboutTheLink) {
  UplinkFixture fixture(with_http2());
  ASSERT_TRUE(fixture.until(LinkState::connected));
  fixture.servers[0]->special = [](const http::Request& asked) -> std::optional<http::Response> {
    if (!asked.headers.has("upgrade")) return std::nullopt;
    return http::Response{.status = 0};
  };
  for (const char* what : {"exec", "log?follow=true"}) {
    const MonoTime began = fixture.time.clock().mono();
    const http::Response late =
        fixture.ask(upgrade(http::Method::get, what, {{"Upgrade", "websocket"}}));
    EXPECT_EQ(late.status, 504);
    EXPECT_EQ(fixture.time.clock().mono() - began, 40s);
    EXPECT_EQ(fixture.state(), LinkState::connected) << fixture.reason();
  }
}

TEST(Upgrade, OfflineItIsRefusedAtOnceAndSaysWhy) {
  for (const char* fault : {"refuse", "black_hole"}) {
    UplinkFixture fixture(with_http2());
    ASSERT_TRUE(fixture.until(LinkState::connected));
    fixture.servers[0]->cut(fault);
    ASSERT_TRUE(fixture.until(LinkState::offline));
    for (const char* what : {"exec", "attach", "portforward", "log"}) {
      const MonoTime began = fixture.time.clock().mono();
      const http::Response refused =
          fixture.ask(upgrade(http::Method::get, what, {{"Upgrade", "websocket"}}));
      EXPECT_EQ(refused.status, 503) << what;
      EXPECT_NE(refused.body.find("the cloud has been unreachable since "), std::string::npos)
          << refused.body;
      EXPECT_NE(refused.body.find("\"kind\":\"Status\""), std::string::npos) << refused.body;
      EXPECT_LT(fixture.time.clock().mono() - began, 100ms) << fault;
    }
  }
}

TEST(Upgrade, WhatHasNoBodyGetsNone) {
  for (const bool http2 : {false, true}) {
    UplinkFixture fixture(http2 ? with_http2() : UplinkFixtureOptions{});
    ASSERT_TRUE(fixture.until(LinkState::connected));
    fixture.servers[0]->special = [](const http::Request& asked) -> std::optional<http::Response> {
      if (asked.path().find("/proxy/") == std::string_view::npos) return std::nullopt;
      const bool nothing = asked.path().ends_with("/nothing");
      return http::Response{.status = nothing ? 204 : 200,
                            .headers = {{"Audit-Id", "1"}},
                            .body = nothing ? "" : "text"};
    };
    struct Row {
      http::Method method;
      std::string page;
      int status;
      std::string body;
    };
    const Row rows[] = {
        {http::Method::get, "page", 200, "text"}, {http::Method::head, "page", 200, ""},
        {http::Method::get, "nothing", 204, ""},  {http::Method::remove, "nothing", 204, ""},
        {http::Method::get, "page", 200, "text"},
    };
    for (const Row& row : rows) {
      SCOPED_TRACE(row.page + (http2 ? " h2" : ""));
      http::Request request{.method = row.method, .target = pod_p + "/proxy/" + row.page};
      request.headers.add("User-Agent", "kubectl/v1");
      const http::Response answer = fixture.ask(request);
      EXPECT_EQ(answer.status, row.status) << answer.body;
      EXPECT_EQ(answer.body, row.body);
    }
  }
}

TEST(Upgrade, LogsComeAsTheyAreWritten) {
  class Lines final : public http::BodyStream {
   public:
    explicit Lines(asio::any_io_executor executor) : changed(std::move(executor)) {}
    asio::awaitable<Result<std::string>> next() override {
      while (text.empty() && !cancelled) co_await changed.wait();
      if (cancelled) co_return fail(Errc::cancelled, "");
      std::string piece = std::exchange(text, {});
      co_return piece;
    }
    void cancel() override {
      cancelled = true;
      changed.notify_all();
    }
    std::string text = "first\n";
    loop::Event changed;
    bool cancelled = false;
  };
  UplinkFixture fixture(with_http2());
  ASSERT_TRUE(fixture.until(LinkState::connected));
  const auto lines = std::make_shared<Lines>(fixture.time.executor());
  fixture.servers[0]->special =
      [&lines](const http::Request& asked) -> std::optional<http::Response> {
    if (!asked.path().ends_with("/log")) return std::nullopt;
    return http::Response{.headers = {{"Content-Type", "text/plain"}, {"Audit-Id", "1"}},
                          .stream = lines};
  };
  const http::Response log = fixture.ask(pod_p + "/log?follow=true", "kubectl");
  ASSERT_EQ(log.status, 200) << log.body;
  ASSERT_TRUE(log.stream);
  std::string piece;
  const auto next = [](std::shared_ptr<http::BodyStream> from,
                       std::string& into) -> asio::awaitable<void> {
    const auto read = co_await from->next();
    into = read.value_or("broken");
  };
  fixture.time.complete(next(log.stream, piece));
  EXPECT_EQ(piece, "first\n");
  fixture.time.run(5min);
  lines->text = "second\n";
  lines->changed.notify_all();
  fixture.time.complete(next(log.stream, piece));
  EXPECT_EQ(piece, "second\n");
  log.stream->cancel();
  fixture.time.run(1s);
  EXPECT_TRUE(lines->cancelled) << "the upstream request has ended, too";
}

}  // namespace
}  // namespace holdfast::agent::uplink
