// Clients that only use up connections: too many, too slow, or silent.

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <deque>

#include "platform/fs/descriptor.h"
#include "platform/http/client.h"
#include "platform/http/server.h"
#include "test/support/virtual_time.h"
#include "test/unit/platform/http2_pair.h"

namespace holdfast::http {
namespace {

// A client's socket that sends exactly what the test tells it.
class Stranger {
 public:
  explicit Stranger(std::uint16_t port)
      : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_in there{};
    there.sin_family = AF_INET;
    there.sin_port = htons(port);
    there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    (void)::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&there), sizeof there);
  }

  void say(std::string_view bytes) const {
    (void)::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  // The bytes received since the last call.
  std::string hear() {
    std::string heard;
    char bytes[4096];
    for (;;) {
      const ssize_t count = ::recv(socket_.get(), bytes, sizeof bytes, 0);
      gone_ = gone_ || count == 0 || (count < 0 && errno != EAGAIN);
      if (count <= 0) return heard;
      heard.append(bytes, static_cast<std::size_t>(count));
    }
  }
  bool sent_away() {
    (void)hear();
    return gone_;
  }

 private:
  Descriptor socket_;
  bool gone_ = false;
};

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
    Stranger regular(door.port);
    if (!secure) regular.say(get);
    door.time.settle();
    std::deque<Stranger> flood;
    std::size_t most = 0;
    for (int i = 0; i < 10'000; ++i) {
      flood.emplace_back(door.port);
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
    Stranger late(door.port);
    door.time.settle();
    EXPECT_TRUE(late.sent_away());
    door.time.run((secure ? limits.handshake : limits.idle) + 1s);
    EXPECT_EQ(door.server.connections(), 0u);
    Stranger next(door.port);
    if (!secure) next.say(get);
    door.time.settle();
    EXPECT_FALSE(next.sent_away());
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
    Stranger slow(door.port);
    slow.say(c.first);
    door.time.settle();
    EXPECT_TRUE(slow.hear().starts_with(c.answer));
    const MonoTime begun = door.time.clock().mono();
    while (!slow.sent_away() && door.time.clock().mono() < begun + 10min) {
      slow.say(c.drop);
      door.time.run(5s);
    }
    EXPECT_EQ(door.time.clock().mono() - begun, c.patience);
    EXPECT_EQ(door.server.connections(), 0u);
  }
}

}  // namespace
}  // namespace holdfast::http
