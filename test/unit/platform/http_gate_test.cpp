// A gate decides on a request by its head: a refused request costs no body memory, and clients that
// use up memory or connections reach limits of their own.

#include <deque>

#include "platform/http/server.h"
#include "test/support/bare_caller.h"
#include "test/support/virtual_time.h"
#include "test/unit/platform/http2_pair.h"

namespace holdfast::http {
namespace {

constexpr std::size_t small_bytes = 10;  // the limit for bodies sent to "/small"

Admission admit(const Request& head) {
  if (head.headers.get("authorization").empty()) return {.refusal = plain_problem(401, "no token")};
  Admission admission;
  if (head.path() == "/small") admission.body_bytes = small_bytes;
  return admission;
}

struct GatedServer {
  explicit GatedServer(ServerLimits limits, bool trusted = false)
      : server(
            time.executor(), limits, [this](const Request& request) { return answer(request); },
            plain_problem,
            Gate{.trusts = [trusted](const net::Peer&) { return trusted; }, .admit = admit}) {
    auto listener = net::Listener::open(time.executor(), {"127.0.0.1", 0}, nullptr).value();
    port = listener->port();
    server.listen(std::move(listener));
    time.settle();
  }
  ~GatedServer() { time.complete(server.stop(time.clock().mono() + 1s)); }
  GatedServer(const GatedServer&) = delete;
  GatedServer& operator=(const GatedServer&) = delete;

  asio::awaitable<Response> answer(const Request& request) {
    handled.push_back(request.target + " " + std::to_string(request.body.size()));
    Response response;
    response.body = "done";
    co_return response;
  }

  test::VirtualTime time;
  std::vector<std::string> handled;
  Server server;
  std::uint16_t port = 0;
};

class BareCaller {
 public:
  explicit BareCaller(GatedServer& fixture) : rig_(fixture), caller_(fixture.time, fixture.port) {}

  // Sends `bytes` and returns the status of the answer; 0 if there is none.
  int ask(std::string_view bytes) {
    caller_.say(bytes);
    rig_.time.settle();
    const std::string heard = caller_.hear();
    if (!heard.starts_with("HTTP/1.1 ")) return 0;
    return std::stoi(heard.substr(9, 3));
  }
  void hang_up() { caller_.hang_up(); }

 private:
  GatedServer& rig_;
  test::BareCaller caller_;
};

std::string put_of(const std::string& path, std::size_t length, const std::string& more = "") {
  return "PUT " + path + " HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(length) +
         "\r\n" + more + "\r\n";
}
const std::string bearer = "Authorization: Bearer t\r\n";

TEST(HttpGate, RefusesByTheHeadAlone) {
  struct Case {
    const char* what;
    std::string bytes;
    int status;
    std::vector<std::string> handled;
  };
  const Case cases[] = {
      {"no token, and no body yet", put_of("/a", 1'000'000), 401, {}},
      {"no token, who waits to be told to go on",
       put_of("/a", 1'000'000, "Expect: 100-continue\r\n"),
       401,
       {}},
      {"no token without a body", "GET /a HTTP/1.1\r\nHost: x\r\n\r\n", 401, {}},
      {"a body that is too large here", put_of("/small", small_bytes + 1, bearer), 413, {}},
      {"one that is just small enough",
       put_of("/small", small_bytes, bearer) + std::string(small_bytes, 'x'),
       200,
       {"/small 10"}},
      {"a large one elsewhere",
       put_of("/a", 100'000, bearer) + std::string(100'000, 'x'),
       200,
       {"/a 100000"}},
      {"chunks that grow too large",
       "PUT /small HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n" + bearer +
           "\r\nb\r\n01234567890\r\n",
       413,
       {}},
      {"one who may go on", put_of("/a", 5, bearer + "Expect: 100-continue\r\n"), 100, {}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    GatedServer fixture(ServerLimits{});
    BareCaller caller(fixture);
    EXPECT_EQ(caller.ask(c.bytes), c.status);
    EXPECT_EQ(fixture.handled, c.handled);
    EXPECT_EQ(fixture.server.refusals().gate, c.status == 401 ? 1U : 0U);
  }
}

TEST(HttpGate, BytesOfTheNextRequestStayCounted) {
  ServerLimits limits;
  limits.shares = {.connections = 1000, .bytes = 60'000};
  GatedServer fixture(limits);
  const std::string both = "GET /a HTTP/1.1\r\nHost: x\r\n" + bearer +
                           "X: " + std::string(2000, 'a') +
                           "\r\n\r\nGET /b HTTP/1.1\r\nX: " + std::string(14'000, 'b');
  BareCaller early(fixture);
  EXPECT_EQ(early.ask(both), 200);
  BareCaller late(fixture);
  EXPECT_EQ(late.ask(both), 429) << "one caller may use a third of the memory, 20,000 bytes";
  early.hang_up();
  fixture.time.settle();
  BareCaller again(fixture);
  EXPECT_EQ(again.ask(both), 200);
}

TEST(HttpGate, BodiesUnderWayMeetTheLimitOfTheirCaller) {
  constexpr std::size_t body = 100'000;
  ServerLimits limits;
  limits.shares = {.connections = 1000, .bytes = 16 * body};
  for (const bool trusted : {false, true}) {
    SCOPED_TRACE(trusted ? "trusted" : "not trusted");
    GatedServer fixture(limits, trusted);
    std::deque<BareCaller> slow;
    std::size_t waiting = 0;
    for (int i = 0; i < 30; ++i) {
      slow.emplace_back(fixture);
      const int status = slow.back().ask(put_of("/a", body, bearer) + std::string(body - 1, 'x'));
      EXPECT_TRUE(status == 0 || status == 429) << status;
      if (status == 0) ++waiting;
    }
    EXPECT_GE(waiting, trusted ? 12U : 4U);
    EXPECT_LE(waiting, trusted ? 16U : 5U);
    EXPECT_EQ(fixture.server.refusals().memory, 30 - waiting);
    EXPECT_EQ(slow.front().ask("x"), 200) << "requests within the limit are completed";
    for (BareCaller& caller : slow) caller.hang_up();
    fixture.time.settle();
    BareCaller next(fixture);
    EXPECT_EQ(next.ask(put_of("/a", body, bearer) + std::string(body, 'x')), 200);
  }
}

TEST(HttpGate, AnswersThatNobodyReadsAreBounded) {
  constexpr std::size_t answer = 3'000'000;
  test::VirtualTime time;
  Server server(
      time.executor(), {.shares = {.bytes = 12'000'000}},
      [](const Request&) -> asio::awaitable<Response> {
        Response response;
        response.body = std::string(answer, 'x');
        co_return response;
      },
      plain_problem, Gate{.trusts = [](const net::Peer&) { return false; }});
  auto listener = net::Listener::open(time.executor(), {"127.0.0.1", 0}, nullptr).value();
  const std::uint16_t port = listener->port();
  server.listen(std::move(listener));
  time.network().set_link({"127.0.0.1", port}, {.buffer_bytes = 4096});
  std::deque<test::BareCaller> silent;
  for (int i = 0; i < 20; ++i) {
    silent.emplace_back(time, port, false);
    silent.back().say("GET /a HTTP/1.1\r\nHost: x\r\n\r\n");
    time.settle();
  }
  EXPECT_EQ(server.refusals().memory, 19U) << "one caller's third has room for one such answer";
  time.complete(server.stop(time.clock().mono() + 1s));
}

TEST(HttpGate, OneCallersConnectionsLeaveRoomForTrustedOnes) {
  bool trusted = false;
  test::VirtualTime time;
  Server server(
      time.executor(), {.shares = {.connections = 80}},
      [](const Request&) -> asio::awaitable<Response> { co_return Response{}; }, plain_problem,
      Gate{.trusts = [&trusted](const net::Peer&) { return trusted; }});
  auto listener = net::Listener::open(time.executor(), {"127.0.0.1", 0}, nullptr).value();
  const std::uint16_t port = listener->port();
  server.listen(std::move(listener));
  const auto connect = [&] {
    test::BareCaller made(time, port);
    time.settle();
    return made;
  };
  std::deque<test::BareCaller> held;
  for (int i = 0; i < 100; ++i) held.push_back(connect());
  EXPECT_EQ(server.connections(), 10U) << "one caller may have an eighth of the connections";
  EXPECT_EQ(server.refusals().caller_full, 90U);
  trusted = true;
  held.push_back(connect());
  EXPECT_EQ(server.connections(), 11U);
  time.complete(server.stop(time.clock().mono() + 1s));
}

}  // namespace
}  // namespace holdfast::http
