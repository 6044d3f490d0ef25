#include "agent/cloud/provider.h"

#include "platform/http/server.h"
#include "platform/loop/timer.h"
#include "test/support/run.h"

namespace holdfast::agent {
namespace {

using namespace std::chrono_literals;

TEST(Provider, AsksByNameAndIdAndBelievesOnlyTwoAnswers) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    int status = 200;
    std::string asked;
    http::Server server(
        context.get_executor(), {},
        [&asked, &status](const http::Request& request) -> asio::awaitable<http::Response> {
          asked = request.target;
          co_return http::Response{.status = status};
        });
    auto listener = net::Listener::open(context.get_executor(), {"127.0.0.1", 0}, nullptr).value();
    const std::string url =
        "http://127.0.0.1:" + std::to_string(listener->port()) + "/nodes/{name}?id={providerID}";
    server.listen(std::move(listener));
    const Clock& clock = loop::clock_of(context.get_executor());
    const auto provider = Provider::make(url, clock).value();

    const std::string name = "a";
    const std::string none;
    const std::string id = "cloud://zone/i-1";
    const auto there = co_await provider->exists(name, id);
    EXPECT_TRUE(there.value());
    EXPECT_EQ(asked, "/nodes/a?id=cloud%3A%2F%2Fzone%2Fi-1");
    status = 404;
    const auto gone = co_await provider->exists(name, id);
    EXPECT_FALSE(gone.value());
    for (const int other : {204, 301, 403, 410, 500, 503}) {
      status = other;
      const auto unknown = co_await provider->exists(name, id);
      EXPECT_FALSE(unknown.has_value()) << other;
    }
    const auto nameless = co_await provider->exists(name, none);
    EXPECT_EQ(nameless.error().code, Errc::invalid);
    co_await server.stop(test::VirtualClock::begin + 5min);
    const auto closed = co_await provider->exists(name, id);
    EXPECT_FALSE(closed.has_value());
  });
}

TEST(Provider, BadUrlsAreRefusedWithTheReason) {
  const test::VirtualClock clock;
  const struct {
    const char* url;
    const char* why;
  } rows[] = {
      {"ftp://p/{name}", "neither http:// nor https://"},
      {"http://p", "no path"},
      {"http://p/nodes", "neither {name} nor {providerID}"},
      {"http://p:99999/{name}", "has an invalid host"},
      {"https://:/{name}", "has an invalid host"},
  };
  for (const auto& row : rows) {
    const auto made = Provider::make(row.url, clock);
    ASSERT_FALSE(made) << row.url;
    EXPECT_NE(made.error().what.find(row.why), std::string::npos) << made.error().what;
  }
  EXPECT_TRUE(Provider::make("https://p/{name}", clock));
  EXPECT_TRUE(Provider::make("http://[::1]:80/v1/{providerID}", clock));
}

}  // namespace
}  // namespace holdfast::agent
