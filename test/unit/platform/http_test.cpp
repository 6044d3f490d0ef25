// Our server and our client together.

#include <unistd.h>

#include <boost/asio/this_coro.hpp>

#include "platform/http/client.h"
#include "platform/http/server.h"
#include "platform/loop/event.h"
#include "platform/loop/tasks.h"
#include "platform/loop/timer.h"
#include "platform/net/reserved_address.h"
#include "test/support/run.h"

namespace holdfast::http {
namespace {

using namespace std::chrono_literals;

constexpr MonoTime soon() { return test::VirtualClock::begin + 10s; }

// A stream whose pieces the test provides; it ends when told to, or waits for cancel().
class ScriptedStream final : public BodyStream {
 public:
  ScriptedStream(asio::any_io_executor executor, std::vector<std::string> pieces, bool ends)
      : pieces_(std::move(pieces)), ends_(ends), changed_(std::move(executor)) {}

  asio::awaitable<Result<std::string>> next() override {
    while (at_ == pieces_.size() && !ends_ && !cancelled) co_await changed_.wait();
    if (cancelled) co_return fail(Errc::cancelled, "cancelled");
    std::string piece;
    if (at_ < pieces_.size()) piece = pieces_[at_++];
    co_return piece;
  }
  void cancel() override {
    cancelled = true;
    changed_.notify_all();
  }

  bool cancelled = false;

 private:
  std::vector<std::string> pieces_;
  std::size_t at_ = 0;
  bool ends_;
  loop::Event changed_;
};

// Echoes the request; /stream and /endless are streams, /status/N answers with status N.
asio::awaitable<Response> echo(const Request& request) {
  Response response;
  const auto executor = co_await asio::this_coro::executor;
  const std::vector<std::string> pieces{"one\n", "two\n"};
  if (request.path() == "/stream" || request.path() == "/endless") {
    const bool ends = request.path() == "/stream";
    response.stream = std::make_shared<ScriptedStream>(executor, pieces, ends);
    co_return response;
  }
  if (request.path() == "/none") {
    response.status = 204;
    co_return response;
  }
  response.headers.set("X-Method", std::string(to_string(request.method)));
  response.headers.set("X-Uid",
                       request.peer.owner ? std::to_string(request.peer.owner->uid) : "unknown");
  response.body = request.target + "|" + request.body;
  co_return response;
}

struct Pair {
  explicit Pair(asio::io_context& context, ServerLimits limits = {}, Handler handler = echo)
      : server(context.get_executor(), limits, std::move(handler)),
        address(net::ReservedAddress::open(context.get_executor(), {"127.0.0.1", 0}).value()),
        port(address.at().port) {
    server.listen(address.listen(nullptr).value());
  }
  [[nodiscard]] Endpoint endpoint() const { return {.at = {"127.0.0.1", port}}; }

  Server server;
  net::ReservedAddress address;
  std::uint16_t port;
};

asio::awaitable<std::string> read_all(std::shared_ptr<BodyStream> stream) {
  std::string all;
  for (;;) {
    const auto piece = co_await stream->next();
    if (!piece || piece->empty()) co_return all;
    all += *piece;
  }
}

TEST(Http, RequestsAndAnswersTravelWhole) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    Pair pair(context);
    Client client(pair.endpoint());
    const std::string big(1'000'000, 'x');
    for (const Method method : {Method::put, Method::post, Method::patch, Method::remove}) {
      Request request{.method = method, .target = "/a?b=c", .body = big};
      const auto answer = co_await client.send(request, soon());
      EXPECT_TRUE(answer);
      if (!answer) break;
      EXPECT_EQ(answer->status, 200);
      EXPECT_EQ(answer->body, "/a?b=c|" + big);
      EXPECT_EQ(answer->headers.get("x-method"), to_string(method));
      EXPECT_EQ(answer->headers.get("x-uid"), std::to_string(getuid()));
    }
    EXPECT_EQ(pair.server.connections(), 1u) << "all requests use one kept connection";
    Request none{.target = "/none"};
    const auto empty = co_await client.send(none, soon());
    EXPECT_TRUE(empty && empty->status == 204 && empty->body.empty());
    Request head{.method = Method::head, .target = "/a"};
    const auto headed = co_await client.send(head, soon());
    EXPECT_TRUE(headed && headed->status == 200 && headed->body.empty());
    co_await pair.server.stop(soon());
  });
}

TEST(Http, StreamsArrivePieceByPieceAndEnd) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    Pair pair(context);
    Client client(pair.endpoint());
    Request request{.target = "/stream"};
    auto answer = co_await client.open(request, soon());
    EXPECT_TRUE(answer && answer->stream);
    const std::string all = co_await read_all(answer->stream);
    EXPECT_EQ(all, "one\ntwo\n");
    co_await pair.server.stop(soon());
  });
}

TEST(Http, StopEndsStreamsAndFreesTheServer) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    Pair pair(context);
    Client client(pair.endpoint());
    Request request{.target = "/endless"};
    auto answer = co_await client.open(request, soon());
    EXPECT_TRUE(answer && answer->stream);
    std::string read;
    while (read != "one\ntwo\n") {
      const auto piece = co_await answer->stream->next();
      EXPECT_TRUE(piece.has_value());
      if (!piece) break;
      read += *piece;
    }
    co_await pair.server.stop(soon());
    EXPECT_EQ(pair.server.connections(), 0u);
    const auto cut = co_await answer->stream->next();
    EXPECT_FALSE(cut.has_value()) << "an interrupted stream must not look complete";
  });
}

TEST(Http, AClientThatHangsUpCancelsItsStream) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    auto stream = std::make_shared<ScriptedStream>(context.get_executor(),
                                                   std::vector<std::string>{"x"}, false);
    Pair pair(context, {}, [stream](const Request&) -> asio::awaitable<Response> {
      Response response;
      response.stream = stream;
      co_return response;
    });
    {
      Client client(pair.endpoint());
      Request request{.target = "/"};
      auto answer = co_await client.open(request, soon());
      EXPECT_TRUE(answer.has_value());
      (void)co_await answer->stream->next();
      answer->stream->cancel();
    }
    while (!stream->cancelled) co_await loop::wait_for(1ms);
    co_await pair.server.stop(soon());
  });
}

asio::awaitable<void> hang_up(net::Listener& server) {
  auto pending = co_await server.accept();
  auto connection = co_await (*pending)->establish(soon());
  std::array<char, 4096> buffer{};
  (void)co_await (*connection)->read_some(buffer);
  (*connection)->shutdown_write();
  (void)co_await (*connection)->read_some(buffer);
}

TEST(Http, ABlackHoleIsATimeoutAndAClosedPortIsUnavailable) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    // The kernel accepts the connection into its queue; nothing ever answers.
    auto hole = net::Listener::open(context.get_executor(), {"127.0.0.1", 0}, nullptr).value();
    Client client(Endpoint{.at = {"127.0.0.1", hole->port()}});
    Request request{.target = "/"};
    const auto late = co_await client.send(request, test::VirtualClock::begin + 20ms);
    EXPECT_EQ(late.error().code, Errc::timeout);
    hole->close();
    const auto refused = co_await client.send(request, soon());
    EXPECT_EQ(refused.error().code, Errc::unavailable);
  });
}

TEST(Http, AServerThatHangsUpWithoutAWordIsUnavailable) {
  for (const std::string_view said : {"", "HTTP/1.1 2", "HTTP/1.1 200 OK\r\n"}) {
    ResponseReader reader({}, Asked{});
    EXPECT_TRUE(reader.put(said));
    const Status end = reader.put_end();
    ASSERT_FALSE(end) << said;
    EXPECT_EQ(end.error().code, Errc::unavailable) << said;
  }
}

TEST(Http, AServerThatHangsUpUnheardIsUnavailable) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    auto server = net::Listener::open(context.get_executor(), {"127.0.0.1", 0}, nullptr).value();
    loop::Tasks tasks(context.get_executor());
    // Like a killed process: the request was read, and the answer never begins.
    tasks.spawn("hang up", hang_up(*server));
    Client client(Endpoint{.at = {"127.0.0.1", server->port()}});
    Request request{.method = Method::post, .target = "/"};
    const auto lost = co_await client.send(request, soon());
    EXPECT_FALSE(lost.has_value());
    EXPECT_EQ(lost.error().code, Errc::unavailable);
    co_await tasks.join();
  });
}

TEST(Http, AKeptConnectionThatDiedIsReplaced) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    auto pair = std::make_unique<Pair>(context);
    Client client(pair->endpoint());
    Request request{.target = "/"};
    const auto first = co_await client.send(request, soon());
    EXPECT_TRUE(first.has_value());
    co_await pair->server.stop(soon());
    Pair second(context);
    second.server.listen(pair->address.listen(nullptr).value());
    const auto again = co_await client.send(request, soon());
    EXPECT_TRUE(again.has_value());
    co_await second.server.stop(soon());
  });
}

// Sends raw bytes and returns everything that the server sends until it closes.
asio::awaitable<std::string> raw(std::uint16_t port, std::string bytes) {
  const net::HostPort at{"127.0.0.1", port};
  auto connection = co_await net::connect(at, nullptr, soon());
  (*connection)->expires_at(soon());
  (void)co_await (*connection)->write(bytes);
  std::string all;
  std::array<char, 4096> buffer{};
  for (;;) {
    const auto count = co_await (*connection)->read_some(buffer);
    if (!count || *count == 0) co_return all;
    all.append(buffer.data(), *count);
  }
}

TEST(Http, BadRequestsAreRefusedByName) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    ServerLimits limits;
    limits.reader = {.header_bytes = 512, .body_bytes = 100};
    Pair pair(context, limits);
    const std::pair<std::string, std::string> rows[] = {
        {"nonsense\r\n\r\n", "HTTP/1.1 400 "},
        {"GET / HTTP/9.9\r\n\r\n", "HTTP/1.1 400 "},
        {"GET / HTTP/1.1\r\nHost: x\r\nX: " + std::string(1000, 'x') + "\r\n\r\n", "HTTP/1.1 431 "},
        {"PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 101\r\n\r\n", "HTTP/1.1 413 "},
        {"PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n" +
             std::string(255, 'x'),
         "HTTP/1.1 413 "},
        {"PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", "HTTP/1.1 400 "},
    };
    for (const auto& [bytes, expected] : rows) {
      const std::string said = co_await raw(pair.port, bytes);
      EXPECT_EQ(said.substr(0, expected.size()), expected) << bytes.substr(0, 60);
    }
    const std::string pipeline =
        "GET /1 HTTP/1.1\r\nHost: x\r\n\r\nGET /2 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    const std::string two = co_await raw(pair.port, pipeline);
    EXPECT_NE(two.find("/1|"), std::string::npos) << "pipelined requests are answered in order";
    EXPECT_NE(two.find("/2|"), std::string::npos);
    const std::string expecting =
        "PUT /c HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 0\r\n"
        "Connection: close\r\n\r\n";
    const std::string patient = co_await raw(pair.port, expecting);
    EXPECT_NE(patient.find("/c|"), std::string::npos);
    co_await pair.server.stop(soon());
  });
}

TEST(Http, TunnelsCarryBytesBothWays) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    // The far server upgrades and echoes one message; the near server forwards the tunnel.
    auto far = net::Listener::open(context.get_executor(), {"127.0.0.1", 0}, nullptr).value();
    const Endpoint far_end{.at = {"127.0.0.1", far->port()}};
    loop::Tasks tasks(context.get_executor());
    tasks.spawn("far", [](net::Listener& at) -> asio::awaitable<void> {
      auto pending = co_await at.accept();
      auto connection = co_await (*pending)->establish(soon());
      std::array<char, 1024> buffer{};
      (void)co_await (*connection)->read_some(buffer);
      (void)co_await (*connection)->write("HTTP/1.1 101 x\r\nUpgrade: t\r\n\r\nhello ");
      const auto count = co_await (*connection)->read_some(buffer);
      (void)co_await (*connection)->write(std::string_view(buffer.data(), *count));
    }(*far));
    Pair pair(context, {}, [far_end](const Request& request) -> asio::awaitable<Response> {
      Client upstream(far_end);
      Request onward{.target = request.target, .headers = {{"Upgrade", "t"}}};
      auto answer = co_await upstream.open(onward, soon());
      co_return *std::move(answer);
    });
    const net::HostPort at{"127.0.0.1", pair.port};
    auto near = co_await net::connect(at, nullptr, soon());
    (*near)->expires_at(soon());
    (void)co_await (*near)->write("GET /exec HTTP/1.1\r\nHost: x\r\nUpgrade: t\r\n\r\n");
    std::string all;
    std::array<char, 1024> buffer{};
    while (all.find("hello ") == std::string::npos) {
      const auto count = co_await (*near)->read_some(buffer);
      if (!count || *count == 0) break;
      all.append(buffer.data(), *count);
    }
    (void)co_await (*near)->write("world");
    const auto count = co_await (*near)->read_some(buffer);
    EXPECT_TRUE(count.has_value());
    EXPECT_EQ(std::string_view(buffer.data(), count.value_or(0)), "world");
    (*near)->close();
    co_await tasks.join();
    co_await pair.server.stop(soon());
  });
}

}  // namespace
}  // namespace holdfast::http
