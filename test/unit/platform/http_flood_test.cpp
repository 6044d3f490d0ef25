// Clients that only use up connections: too many, too slow, or silent.

#include <deque>

#include "platform/http/client.h"
#include "platform/http/server.h"
#include "test/support/bare_caller.h"
#include "test/support/virtual_time.h"
#include "test/unit/platform/http2_pair.h"

namespace holdfast::http {
namespace {

struct Door {
  explicit Door(ServerLimits limits, std::vector<std::string> protocols = {})
      : secure(!protocols.empty()),
        server(time.executor(), limits, [](const Request& request) { return answer(request); }) {
    const auto tls = secure ? server_tls(std::move(protocols)) : nullptr;
    auto listener = net::Listener::open(time.executor(), {"127.0.0.1", 0}, tls).value();
    port = listener->port();
    server.listen(std::move(listener));
    time.settle();
  }
  ~Door() { time.complete(server.stop(time.clock().mono() + 1s)); }
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;

  static asio::awaitable<Response> answer(const Request& request) {
    Response response;
    response.body = request.target;
    co_return response;
  }

  test::VirtualTime time;
  bool secure;
  Server server;
  std::uint16_t port = 0;
};

constexpr std::string_view get = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n";

TEST(Flood, TenThousandConnectionsTakeNobodysPlaceAndTheirOwnOnlyForATime) {
  for (const bool secure : {false, true}) {
    SCOPED_TRACE(secure ? "TLS that is never begun" : "plain");
    const ServerLimits limits{.shares = {.connections = 100}};
    Door door(limits, secure ? std::vector<std::string>{"h2"} : std::vector<std::string>{});
    test::BareCaller regular(door.time, door.port);
    if (!secure) regular.say(get);
    door.time.settle();
    std::deque<test::BareCaller> flood;
    std::size_t most = 0;
    for (int i = 0; i < 10'000; ++i) {
      flood.emplace_back(door.time, door.port);
      if (i % 50 != 0) continue;
      door.time.settle();
      most = std::max(most, door.server.connections());
      while (flood.size() > 300) flood.pop_back();
    }
    door.time.settle();
    EXPECT_EQ(most, limits.shares.connections);
    if (!secure) {
      EXPECT_TRUE(regular.hear().ends_with("/a"));
      regular.say(get);
      door.time.settle();
      EXPECT_TRUE(regular.hear().ends_with("/a")) << "existing connections are still served";
    }
    test::BareCaller late(door.time, door.port);
    door.time.settle();
    EXPECT_TRUE(late.is_sent_away());
    door.time.run((secure ? limits.handshake : limits.idle) + 1s);
    EXPECT_EQ(door.server.connections(), 0u);
    test::BareCaller next(door.time, door.port);
    if (!secure) next.say(get);
    door.time.settle();
    EXPECT_FALSE(next.is_sent_away());
    EXPECT_EQ(door.server.connections(), 1u);
  }
}

TEST(Flood, WhoSpeaksTooSlowlyIsSentAway) {
  struct Case {
    const char* what;
    std::string_view first;
    std::string_view drop;  // sent every five seconds
    Duration patience;
    std::string_view answer;  // the beginning of the expected answer
  };
  const ServerLimits limits;
  const Case cases[] = {
      {"nothing", "", "", limits.idle, ""},
      {"a line without end", "GET /", "a", limits.receive, ""},
      {"headers without end", "GET /a HTTP/1.1\r\n", "X-A: b\r\n", limits.receive, ""},
      {"a body", "PUT /a HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n", "b", limits.receive,
       ""},
      {"chunks", "PUT /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\nb\r\n",
       limits.receive, ""},
      {"a request, then nothing", get, "", limits.idle, "HTTP/1.1 200 OK"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    Door door(limits);
    test::BareCaller slow(door.time, door.port);
    slow.say(c.first);
    door.time.settle();
    EXPECT_TRUE(slow.hear().starts_with(c.answer));
    const MonoTime begun = door.time.clock().mono();
    while (!slow.is_sent_away() && door.time.clock().mono() < begun + 10min) {
      slow.say(c.drop);
      door.time.run(5s);
    }
    EXPECT_EQ(door.time.clock().mono() - begun, c.patience);
    EXPECT_EQ(door.server.connections(), 0u);
  }
}

}  // namespace
}  // namespace holdfast::http
