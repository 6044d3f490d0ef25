// Many watches on one connection whose link is cut: in virtual time over real sockets.

#include "agent/lab/faults/fault_proxy.h"
#include "platform/loop/tasks.h"
#include "test/support/virtual_time.h"
#include "test/unit/platform/http2_pair.h"

namespace holdfast::agent::faults {
namespace {

using namespace std::chrono_literals;

constexpr int watches = 20;

struct SharedConnectionFixture {
  SharedConnectionFixture() : pair(time.context()) {
    const net::HostPort here{"127.0.0.1", 0};
    proxy = FaultProxy::open(time.executor(), here, {"127.0.0.1", pair.port}).value();
    http::Endpoint through = pair.endpoint();
    through.at.port = proxy->port();
    client = std::make_unique<http::Client>(std::move(through));
  }
  ~SharedConnectionFixture() {
    client.reset();
    time.complete(proxy->stop());
    time.complete(pair.server.stop(time.clock().mono() + 1s));
    tasks.cancel();
    time.settle();
  }
  SharedConnectionFixture(const SharedConnectionFixture&) = delete;
  SharedConnectionFixture& operator=(const SharedConnectionFixture&) = delete;

  test::VirtualTime time;
  http::Pair pair;
  std::unique_ptr<FaultProxy> proxy;
  std::unique_ptr<http::Client> client;
  loop::Tasks tasks{time.executor()};
};

// Reads until the watch ends. Stores how in `ends` and when in `at`.
asio::awaitable<void> watch(http::Client& client, std::vector<Errc>& ends, MonoTime& at) {
  const Clock& clock = loop::clock_of(co_await asio::this_coro::executor);
  http::Request request{.target = "/watch"};
  const auto answer = co_await client.open(std::move(request), clock.mono() + 5s);
  if (!answer) co_return;
  for (;;) {
    const auto piece = co_await answer->stream->next();
    if (piece) continue;
    ends.push_back(piece.error().code);
    at = clock.mono();
    co_return;
  }
}

asio::awaitable<void> ask(http::Client& client, Duration limit, std::string& into) {
  const Clock& clock = loop::clock_of(co_await asio::this_coro::executor);
  http::Request request{.target = "/a"};
  const auto answer = co_await client.send(std::move(request), clock.mono() + limit);
  into = answer ? answer->body : std::string(to_string(answer.error().code));
}

TEST(SharedConnection, ABlackHoleCostsEveryRequestItsDeadlineAndTheWatchesAPing) {
  SharedConnectionFixture fixture;
  std::vector<Errc> ends;
  MonoTime ended_at{};
  for (int i = 0; i < watches; ++i)
    fixture.tasks.spawn("watch", watch(*fixture.client, ends, ended_at));
  fixture.time.run(30s);
  ASSERT_EQ(fixture.pair.watches.size(), std::size_t{watches});
  ASSERT_EQ(fixture.client->traffic().connections, 1u);

  ASSERT_TRUE(fixture.proxy->set({cut_cable()}));
  const MonoTime cut_at = fixture.time.clock().mono();
  std::string answer;
  for (int i = 0; i < 2; ++i) {
    const MonoTime began = fixture.time.clock().mono();
    fixture.time.complete(ask(*fixture.client, 1s, answer));
    EXPECT_EQ(answer, "timeout");
    EXPECT_LE(fixture.time.clock().mono() - began, 1100ms) << "deadlines do not change";
  }
  fixture.time.run(20s);
  EXPECT_EQ(ends, std::vector<Errc>(watches, Errc::unavailable));
  const http::h2::SessionLimits limits;
  EXPECT_LE(ended_at - cut_at, 1s + limits.ping_timeout + 100ms)
      << "the first timeout sends a ping at once";

  ASSERT_TRUE(fixture.proxy->set({}));
  fixture.time.complete(ask(*fixture.client, 1s, answer));
  EXPECT_EQ(answer, "/a|");
}

TEST(SharedConnection, WatchesAloneFindABlackHoleToo) {
  SharedConnectionFixture fixture;
  std::vector<Errc> ends;
  MonoTime ended_at{};
  for (int i = 0; i < watches; ++i)
    fixture.tasks.spawn("watch", watch(*fixture.client, ends, ended_at));
  fixture.time.run(60s);
  EXPECT_TRUE(ends.empty()) << "silence alone does not end a watch";
  ASSERT_TRUE(fixture.proxy->set({cut_cable()}));
  const MonoTime cut_at = fixture.time.clock().mono();
  fixture.time.run(20s);
  EXPECT_EQ(ends, std::vector<Errc>(watches, Errc::unavailable));
  const http::h2::SessionLimits limits;
  EXPECT_LE(ended_at - cut_at, limits.ping_after + limits.ping_timeout + 100ms);
}

}  // namespace
}  // namespace holdfast::agent::faults
