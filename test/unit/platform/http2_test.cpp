// Our server and our client together over TLS, both with HTTP/2 and with HTTP/1.1.

#include "platform/loop/tasks.h"
#include "test/support/run.h"
#include "test/unit/platform/http2_pair.h"

namespace holdfast::http {
namespace {

asio::awaitable<void> open_into(Client& client, std::string target, MonoTime deadline,
                                std::vector<Result<Response>>& into) {
  Request request{.target = std::move(target)};
  into.push_back(co_await client.open(std::move(request), deadline));
}

TEST(Http2, RequestsAndAnswersTravelWhole) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    Pair pair(context);
    Client client(pair.endpoint());
    const std::string big(1'000'000, 'x');
    for (const Method method : {Method::put, Method::post, Method::patch, Method::remove}) {
      Request request{.method = method, .target = "/a?b=c", .body = big};
      request.headers.add("Connection", "keep-alive");
      const auto answer = co_await client.send(request, soon());
      EXPECT_TRUE(answer) << answer.error().what;
      if (!answer) break;
      EXPECT_EQ(answer->status, 200);
      EXPECT_EQ(answer->body, "/a?b=c|" + big);
      EXPECT_EQ(answer->headers.get("X-Method"), to_string(method));
      EXPECT_EQ(answer->headers.get("X-Host"), pair.endpoint().at.text());
    }
    Request none{.target = "/none"};
    const auto empty = co_await client.send(none, soon());
    EXPECT_TRUE(empty && empty->status == 204 && empty->body.empty());
    Request head{.method = Method::head, .target = "/a"};
    const auto headed = co_await client.send(head, soon());
    EXPECT_TRUE(headed && headed->status == 200 && headed->body.empty());
    EXPECT_EQ(pair.server.connections(), 1u);
    EXPECT_EQ(client.traffic().connections, 1u);
    EXPECT_GT(client.traffic().sent, 4 * big.size());
    EXPECT_GT(client.traffic().received, 4 * big.size());
    co_await pair.server.stop(soon());
  });
}

TEST(Http2, ManyWatchesShareFewConnections) {
  struct Case {
    std::uint32_t server_allows;
    std::size_t connections;
  };
  for (const Case& c : {Case{250, 1}, Case{200, 2}, Case{100, 3}}) {
    test::run([c](asio::io_context& context) -> asio::awaitable<void> {
      Pair pair(context, {.http2 = {.streams = c.server_allows}});
      Client client(pair.endpoint());
      loop::Tasks tasks(context.get_executor());
      std::vector<Result<Response>> opened;
      for (int i = 0; i < 250; ++i) {
        tasks.spawn("open", open_into(client, "/watch", soon(), opened));
      }
      co_await tasks.join();
      EXPECT_EQ(opened.size(), 250u);
      for (auto& answer : opened) {
        EXPECT_TRUE(answer && answer->stream);
        if (!answer) break;
        const auto piece = co_await answer->stream->next();
        EXPECT_EQ(piece.value_or("nothing"), "event\n");
      }
      EXPECT_EQ(pair.server.connections(), c.connections) << c.server_allows;
      EXPECT_EQ(client.traffic().connections, c.connections) << c.server_allows;
      opened.clear();
      co_await pair.server.stop(soon());
    });
  }
}

TEST(Http2, WhoFindsNoFreeStreamWaitsForOne) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    Pair pair(context, {.http2 = {.streams = 2}});
    Client client(pair.endpoint(), {.http2 = {.connections = 2}});
    std::vector<Result<Response>> opened;
    for (int i = 0; i < 4; ++i) co_await open_into(client, "/watch", soon(), opened);
    co_await open_into(client, "/watch", now(context) + 50ms, opened);
    EXPECT_EQ(opened.back().error().code, Errc::exhausted);
    EXPECT_EQ(pair.server.connections(), 2u);
    opened.pop_back();
    loop::Tasks tasks(context.get_executor());
    tasks.spawn("open", open_into(client, "/watch", soon(), opened));
    opened.front()->stream->cancel();
    co_await tasks.join();
    EXPECT_TRUE(opened.back() && opened.back()->stream);
    opened.clear();
    co_await pair.server.stop(soon());
  });
}

TEST(Http2, Http1IsTheWayBack) {
  struct Case {
    const char* what;
    std::vector<std::string> protocols;
    bool enabled;
    bool upgrade;
    std::size_t connections;
  };
  const Case cases[] = {
      {"both speak it", {"h2", "http/1.1"}, true, false, 1},
      {"the server knows no ALPN", {}, true, false, 2},
      {"the server prefers HTTP/1.1", {"http/1.1", "h2"}, true, false, 2},
      {"the client does not want it", {"h2", "http/1.1"}, false, false, 2},
      {"an upgrade", {"h2", "http/1.1"}, true, true, 2},
  };
  for (const Case& c : cases) {
    test::run([&c](asio::io_context& context) -> asio::awaitable<void> {
      Pair pair(context, {}, c.protocols);
      Client client(pair.endpoint(), {.http2 = {.enabled = c.enabled}});
      std::vector<Result<Response>> opened;
      co_await open_into(client, "/watch", soon(), opened);
      EXPECT_TRUE(opened.front() && opened.front()->stream) << c.what;
      for (int i = 0; i < 3; ++i) {
        Request request{.target = "/a"};
        if (c.upgrade) request.headers.add("Upgrade", "t");
        const auto answer = co_await client.send(request, soon());
        EXPECT_TRUE(answer && answer->body == "/a|") << c.what;
      }
      EXPECT_EQ(client.traffic().connections, c.connections) << c.what;
      opened.clear();
      client.forget_connections();
      co_await pair.server.stop(soon());
    });
  }
}

TEST(Http2, ASlowReaderHoldsOnlyItsOwnStreamBack) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    Pair pair(context);
    Client client(pair.endpoint());
    std::vector<Result<Response>> opened;
    co_await open_into(client, "/flood", soon(), opened);
    for (int i = 0; i < 20; ++i) {
      Request request{.target = "/a"};
      const auto answer = co_await client.send(request, soon());
      EXPECT_TRUE(answer.has_value());
    }
    // The window of 256 KiB, 64 KiB that wait in the server, and the piece being sent.
    EXPECT_LE(pair.watches.front()->pieces, (256 + 64) * 1024 / 10'000 + 2);
    EXPECT_EQ(pair.server.connections(), 1u);
    opened.clear();
    const auto cancelled = [&pair] { return pair.watches.front()->cancelled; };
    co_await eventually(cancelled);
    co_await pair.server.stop(soon());
  });
}

TEST(Http2, ARequestEndsAloneWhicheverWay) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    Pair pair(context);
    Client client(pair.endpoint());
    std::vector<Result<Response>> opened;
    co_await open_into(client, "/watch", soon(), opened);
    co_await open_into(client, "/watch", soon(), opened);
    Request slow{.target = "/slow"};
    const auto late = co_await client.send(slow, now(context) + 20ms);
    EXPECT_EQ(late.error().code, Errc::timeout);
    // The connection is suspect after the timeout: no new requests until the server sends
    // something.
    const std::uint64_t received = client.traffic().received;
    const auto heard = [&client, received] { return client.traffic().received > received; };
    co_await eventually(heard);
    {
      loop::Tasks tasks(context.get_executor());
      tasks.spawn("open", open_into(client, "/slow", soon(), opened));
      co_await loop::wait_for(5ms);
      tasks.cancel();
      co_await tasks.join();
    }
    pair.go_on.notify_all();
    opened[0]->stream->cancel();
    const auto said = co_await opened[0]->stream->next();
    EXPECT_EQ(said.error().code, Errc::cancelled);
    const auto cancelled = [&pair] { return pair.watches[0]->cancelled; };
    co_await eventually(cancelled);
    EXPECT_FALSE(pair.watches[1]->cancelled);
    const auto event = co_await opened[1]->stream->next();
    EXPECT_EQ(event.value_or("nothing"), "event\n");
    EXPECT_EQ(pair.server.connections(), 1u);
    opened.clear();
    co_await pair.server.stop(soon());
  });
}

TEST(Http2, ForgottenConnectionsKeepTheirStreams) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    Pair pair(context);
    Client client(pair.endpoint());
    std::vector<Result<Response>> opened;
    co_await open_into(client, "/watch", soon(), opened);
    client.forget_connections();
    co_await open_into(client, "/watch", soon(), opened);
    EXPECT_EQ(pair.server.connections(), 2u);
    for (auto& answer : opened) {
      const auto event = co_await answer->stream->next();
      EXPECT_EQ(event.value_or("nothing"), "event\n");
    }
    opened.erase(opened.begin());
    const auto one = [&pair] { return pair.server.connections() == 1; };
    co_await eventually(one);
    opened.clear();
    co_await pair.server.stop(soon());
  });
}

TEST(Http2, StopEndsStreamsAndTheNextServerIsFound) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    auto pair = std::make_unique<Pair>(context);
    Client client(pair->endpoint());
    std::vector<Result<Response>> opened;
    co_await open_into(client, "/watch", soon(), opened);
    (void)co_await opened.front()->stream->next();
    co_await pair->server.stop(soon());
    EXPECT_EQ(pair->server.connections(), 0u);
    const auto cut = co_await opened.front()->stream->next();
    EXPECT_FALSE(cut.has_value()) << "an interrupted stream must not look complete";
    Request request{.target = "/a"};
    const auto refused = co_await client.send(request, soon());
    EXPECT_EQ(refused.error().code, Errc::unavailable);
    Pair second(context);
    const net::HostPort at{"127.0.0.1", pair->port};
    const std::vector<std::string> protocols{"h2"};
    second.server.listen(
        net::Listener::open(context.get_executor(), at, server_tls(protocols)).value());
    const auto again = co_await client.send(request, soon());
    EXPECT_TRUE(again.has_value());
    co_await second.server.stop(soon());
  });
}

}  // namespace
}  // namespace holdfast::http
