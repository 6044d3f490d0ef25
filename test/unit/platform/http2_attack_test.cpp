// What an HTTP/2 server of ours refuses: too much of everything.

#include "platform/http/h2/engine.h"
#include "test/support/run.h"
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
    Request odd{.method = Method::options, .target = "*"};
    const auto path = co_await client.send(odd, soon());
    EXPECT_EQ(path ? path->status : 0, 400);
    Request good{.target = "/a"};
    const auto answer = co_await client.send(good, soon());
    EXPECT_TRUE(answer.has_value());
    EXPECT_EQ(pair.server.connections(), 1u) << "the connection is as good as before";
    co_await pair.server.stop(soon());
  });
}

// A client that opens streams and resets them at once, on and on, until it is hung up on.
struct RapidResets final : h2::Events {
  void on_settings() override {}
  void on_headers(h2::StreamId, h2::Block) override {}
  void on_data(h2::StreamId, std::string_view) override {}
  void on_end(h2::StreamId) override {}
  void on_sent(h2::StreamId) override {}
  void on_closed(h2::StreamId, h2::Code) override {}
  void on_goaway(h2::Code code) override { goaway = code; }
  std::optional<h2::Code> goaway;
};

TEST(Http2, RapidResetsCostTheAttackerHisConnection) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    Pair pair(context);
    RapidResets attack;
    h2::Engine engine(h2::Engine::Role::client, {}, attack);
    const std::array<std::string_view, 1> protocols{"h2"};
    const Endpoint to = pair.endpoint();
    auto connection = co_await net::connect(to.at, to.tls, soon(), protocols);
    (*connection)->expires_at(soon());
    const Headers fields{
        {":method", "GET"}, {":scheme", "https"}, {":path", "/flood"}, {":authority", "x"}};
    int requests = 0;
    std::array<char, 4096> buffer{};
    for (bool open = true; open && requests < 10'000; ++requests) {
      const auto id = engine.request(fields, {});
      if (!id) break;
      std::string bytes = engine.take_output();
      engine.reset(*id, h2::Code::cancel);
      bytes += engine.take_output();
      const Status sent = co_await (*connection)->write(bytes);
      open = sent.has_value();
    }
    for (;;) {
      const auto count = co_await (*connection)->read_some(buffer);
      if (!count || *count == 0) break;
      (void)engine.receive(std::string_view(buffer.data(), *count));
    }
    EXPECT_LT(requests, 10'000);
    EXPECT_LE(pair.watches.size(), 600u) << "most of them never reached the handler";
    const auto gone = [&pair] { return pair.server.connections() == 0; };
    co_await eventually(gone);
    co_await pair.server.stop(soon());
  });
}

}  // namespace
}  // namespace holdfast::http
