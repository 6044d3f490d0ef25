// Bodies that are produced piece by piece while they are sent.

#include "platform/http/client.h"
#include "platform/http/server.h"
#include "test/support/bare_caller.h"
#include "test/support/run.h"
#include "test/unit/platform/http2_pair.h"

namespace holdfast::http {
namespace {

// `count` pieces of 1,000 bytes each.
class CountedPieces final : public BodyPieces {
 public:
  CountedPieces(std::size_t count, std::size_t& produced) : count_(count), produced_(produced) {}

  [[nodiscard]] std::size_t size() const override { return count_ * 1000; }
  [[nodiscard]] Result<std::string> next() override {
    if (next_ == count_) return std::string();
    ++produced_;
    return std::string(1000, letter(next_++));
  }
  static char letter(std::size_t index) { return static_cast<char>('a' + index % 26); }

 private:
  std::size_t count_;
  std::size_t& produced_;
  std::size_t next_ = 0;
};

std::string whole_of(std::size_t count) {
  std::string whole;
  for (std::size_t i = 0; i < count; ++i) whole.append(1000, CountedPieces::letter(i));
  return whole;
}

// Answers "/N" with N pieces.
struct PieceServer {
  explicit PieceServer(const asio::any_io_executor& executor, bool secure, ServerLimits limits = {})
      : server(executor, limits, [this](const Request& request) { return answer(request); }) {
    const auto tls = secure ? server_tls({"h2", "http/1.1"}) : nullptr;
    auto listener = net::Listener::open(executor, {"127.0.0.1", 0}, tls).value();
    endpoint.at = {"127.0.0.1", listener->port()};
    if (secure) {
      endpoint.tls = tls::Context::for_client({.ca_pem = authority().certificate_pem()}).value();
    }
    server.listen(std::move(listener));
  }

  asio::awaitable<Response> answer(const Request& request) {
    Response response;
    const std::size_t count = std::stoul(request.target.substr(1));
    response.pieces = std::make_shared<CountedPieces>(count, produced);
    co_return response;
  }

  std::size_t produced = 0;
  Endpoint endpoint;
  Server server;
};

TEST(Pieces, ArriveAsOneBodyOfKnownSizeAndTheConnectionIsKept) {
  for (const bool secure : {false, true}) {
    test::run([secure](asio::io_context& context) -> asio::awaitable<void> {
      PieceServer pieces(context.get_executor(), secure);
      Client client(pieces.endpoint);
      for (const std::size_t count : {1UL, 2UL, 3000UL, 0UL, 70UL}) {
        Request get{.target = "/" + std::to_string(count)};
        const auto answer = co_await client.send(get, soon());
        EXPECT_TRUE(answer) << answer.error().what;
        if (!answer) break;
        EXPECT_EQ(answer->headers.get("Content-Length"), std::to_string(count * 1000));
        EXPECT_FALSE(answer->headers.has("Transfer-Encoding"));
        EXPECT_TRUE(answer->body == whole_of(count)) << answer->body.size();
      }
      EXPECT_EQ(pieces.produced, 3073u);
      Request head{.method = Method::head, .target = "/5"};
      const auto headed = co_await client.send(head, soon());
      EXPECT_TRUE(headed && headed->body.empty());
      EXPECT_EQ(headed->headers.get("Content-Length"), "5000");
      EXPECT_EQ(pieces.produced, 3073u) << "HEAD needs no bytes";
      EXPECT_EQ(client.traffic().connections, 1u);
      co_await pieces.server.stop(soon());
    });
  }
}

TEST(Pieces, AreProducedOnlyAsTheClientReads) {
  test::VirtualTime time;
  constexpr std::size_t count = 100'000;  // 100 MB, far more than sockets take up
  PieceServer pieces(time.executor(), false, {.shares = {.bytes = 200'000'000}});
  time.settle();
  test::BareCaller silent(time, pieces.endpoint.at.port, false);
  silent.say("GET /" + std::to_string(count) + " HTTP/1.1\r\nHost: x\r\n\r\n");
  time.settle();
  EXPECT_GT(pieces.produced, 0u);
  EXPECT_LT(pieces.produced, count / 2);
  time.run(29s);
  EXPECT_EQ(pieces.server.connections(), 1u);
  time.run(2s);
  EXPECT_EQ(pieces.server.connections(), 0u) << "the time for one response is over";
  EXPECT_LT(pieces.produced, count / 2);
  time.complete(pieces.server.stop(time.clock().mono() + 1s));
}

TEST(Pieces, ThatDoNotFitTheMemoryLimitAreNotProduced) {
  for (const bool secure : {false, true}) {
    test::run([secure](asio::io_context& context) -> asio::awaitable<void> {
      // Nothing but its request is held, so one answer of any size may be sent to this user.
      PieceServer pieces(context.get_executor(), secure, {.shares = {.bytes = 60'000'000}});
      Client reader(pieces.endpoint);
      Request large{.target = "/50000"};
      auto first = co_await reader.open(large, soon());
      EXPECT_TRUE(first && first->stream);
      const std::size_t before = pieces.produced;
      EXPECT_LT(before, 50'000u);
      Client second(pieces.endpoint);
      const auto refused = co_await second.send(large, soon());
      EXPECT_TRUE(refused && refused->status == 503);
      EXPECT_EQ(pieces.server.refusals().memory, 1u);
      std::size_t read = 0;
      for (auto piece = co_await first->stream->next(); piece && !piece->empty();
           piece = co_await first->stream->next()) {
        read += piece->size();
      }
      EXPECT_EQ(read, 50'000'000u);
      EXPECT_EQ(pieces.produced, 50'000u) << "none of the refused answer";
      co_await pieces.server.stop(soon());
    });
  }
}

TEST(Pieces, AreJoinedForThoseWhoChangeTheBody) {
  std::size_t produced = 0;
  Response response;
  EXPECT_TRUE(response.join_pieces(0));
  EXPECT_EQ(response.body, "");
  response.pieces = std::make_shared<CountedPieces>(3, produced);
  EXPECT_EQ(response.body_size(), 3000u);
  const Status too_large = response.join_pieces(2999);
  ASSERT_FALSE(too_large);
  EXPECT_EQ(too_large.error().code, Errc::exhausted);
  EXPECT_EQ(produced, 0u);
  EXPECT_TRUE(response.join_pieces(3000));
  EXPECT_EQ(response.body, whole_of(3));
  EXPECT_EQ(response.pieces, nullptr);
  EXPECT_EQ(response.body_size(), 3000u);
}

}  // namespace
}  // namespace holdfast::http
