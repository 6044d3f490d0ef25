// The client's credentials: they can be replaced during requests and are not used for callers with
// their own; and what the client reports about answers.

#include "agent/client/api_client.h"

#include <fstream>

#include "agent/edge/forward/uplink.h"
#include "test/support/fake_proxy.h"
#include "test/support/run.h"
#include "test/support/scratch_dir.h"
#include "test/unit/agent/client/caller_echo_server.h"

namespace holdfast::agent {
namespace {

using namespace std::chrono_literals;

constexpr MonoTime soon() { return test::VirtualClock::begin + 5min; }

asio::awaitable<std::string> ask(ApiClient& client, const char* authorization = "") {
  ApiRequest request{.target = "/who", .authorization = authorization};
  const auto answer = co_await client.call(std::move(request), soon());
  co_return answer ? *answer : std::string(to_string(answer.error().code));
}

TEST(ApiClientIdentity, IsSwappedWhileAWatchGoesOn) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    const Clock& clock = loop::clock_of(context.get_executor());
    test::CallerEchoServer server(context);
    const auto client = ApiClient::make(server.access("first"), clock, "test").value();
    EXPECT_EQ(co_await ask(*client), "first/");
    ApiRequest watch{.target = "/stream"};
    const auto stream = co_await client->stream(std::move(watch), soon());
    EXPECT_EQ((co_await (*stream)->next()).value(), "piece");
    EXPECT_TRUE(client->adopt(server.access("second")));
    EXPECT_EQ(co_await ask(*client), "second/");
    server.stream->go();
    EXPECT_EQ((co_await (*stream)->next()).value(), "piece") << "the stream was not closed";
    EXPECT_EQ((co_await (*stream)->next()).value(), "");
    EXPECT_GT(client->traffic().sent, 100u);
    ClusterAccess bad = server.access("third");
    bad.tls_settings.identity.key_pem = "nonsense";
    EXPECT_FALSE(client->adopt(bad));
    EXPECT_EQ(co_await ask(*client), "second/") << "the old credentials are still used";
    client->forget_connections();
    co_await server.stop();
  });
}

TEST(ApiClientIdentity, IsNotOnTheConnectionsOfOthers) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    const Clock& clock = loop::clock_of(context.get_executor());
    test::CallerEchoServer server(context);
    const auto client = ApiClient::make(server.access("node"), clock, "test").value();
    EXPECT_EQ(co_await ask(*client), "node/");
    EXPECT_EQ(co_await ask(*client, "Bearer alice"), "/Bearer alice");
    http::Request onward{.target = "/who"};
    onward.headers.add("Authorization", "Bearer bob");
    const auto forwarded = co_await client->forward(std::move(onward), false, soon());
    EXPECT_EQ(forwarded->body, "/Bearer bob");
    client->forget_connections();
    co_await server.stop();
  });
}

TEST(ApiClientIdentity, ATokenFileTakesPrecedenceOverAToken) {
  const test::ScratchDir dir;
  const std::string file = (dir.path() / "token").string();
  std::ofstream(file) << "of-the-file\n";
  test::run([&file](asio::io_context& context) -> asio::awaitable<void> {
    const Clock& clock = loop::clock_of(context.get_executor());
    test::CallerEchoServer server(context);
    ClusterAccess access = server.access("");
    access.token = "inline";
    const auto without_file = ApiClient::make(access, clock, "test").value();
    EXPECT_EQ(co_await ask(*without_file), "/Bearer inline");
    access.token_file = file;
    const auto client = ApiClient::make(access, clock, "test").value();
    EXPECT_EQ(co_await ask(*client), "/Bearer of-the-file");
    without_file->forget_connections();
    client->forget_connections();
    co_await server.stop();
  });
}

TEST(ApiClientIdentity, NothingLeavesWhileItIsHeld) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    const Clock& clock = loop::clock_of(context.get_executor());
    test::CallerEchoServer server(context);
    const auto client = ApiClient::make(server.access(""), clock, "test").value();
    client->hold("no certificate yet");
    EXPECT_EQ(co_await ask(*client), "denied");
    EXPECT_EQ(co_await ask(*client, "Bearer alice"), "denied");
    EXPECT_EQ(server.requests, 0);
    EXPECT_TRUE(client->adopt(server.access("node")));
    EXPECT_EQ(co_await ask(*client), "node/");
    client->forget_connections();
    co_await server.stop();
  });
}

TEST(ApiClientProxy, CarriesOurRequestsAndThoseOfOthers) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    const Clock& clock = loop::clock_of(context.get_executor());
    test::CallerEchoServer server(context);
    test::FakeProxy proxy(context.get_executor(), {.user = "me", .password = "secret"});
    const std::string to = "127.0.0.1:" + std::to_string(server.port);
    ClusterAccess access = server.access("node");
    access.proxy_url = "http://me:secret@127.0.0.1:" + std::to_string(proxy.port());
    const auto client = ApiClient::make(access, clock, "test").value();
    EXPECT_EQ(co_await ask(*client), "node/");
    EXPECT_EQ(co_await ask(*client, "Bearer alice"), "/Bearer alice");
    const std::vector<std::string> both{to, to};
    EXPECT_EQ(proxy.asked, both) << "with and without our certificate";
    ApiRequest watch{.target = "/stream"};
    const auto stream = co_await client->stream(std::move(watch), soon());
    EXPECT_EQ((co_await (*stream)->next()).value(), "piece");
    access.proxy_url = "http://me:wrong@127.0.0.1:" + std::to_string(proxy.port());
    EXPECT_TRUE(client->adopt(access));
    EXPECT_EQ(co_await ask(*client), "unavailable");
    EXPECT_EQ(server.requests, 3);
    access.proxy_url = "nonsense:secret";
    const Status refused = client->adopt(access);
    EXPECT_EQ(refused.error().what,
              "proxy-url: proxy URL: the scheme is none of http, https, socks5 and socks5h");
    server.stream->go();
    EXPECT_EQ((co_await (*stream)->next()).value(), "piece");
    (*stream)->cancel();
    client->forget_connections();
    proxy.stop();
    co_await server.stop();
  });
}

// insecure-skip-tls-verify concerns the API server alone. A proxy is verified by the authority of
// the cluster and by those of the system, which OpenSSL reads from this file.
TEST(ApiClientProxy, AnHttpsProxyIsVerifiedAlsoForAnUnverifiedServer) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    const Clock& clock = loop::clock_of(context.get_executor());
    const test::Authority other("another authority");
    const auto tls_of = [](const test::Authority& signer) {
      const test::Subject subject{.common_name = "proxy", .names = {"IP:127.0.0.1"}};
      const tls::ServerSettings settings{.identity = signer.sign(subject)};
      return tls::Context::for_server(settings).value();
    };
    test::CallerEchoServer server(context);
    test::FakeProxy trusted(context.get_executor(), {.tls = tls_of(test::authority())});
    const test::Authority of_system("an authority of the system");
    const test::ScratchDir scratch;
    const std::string roots = scratch.path() / "roots.pem";
    std::ofstream(roots) << of_system.certificate_pem();
    EXPECT_EQ(::setenv("SSL_CERT_FILE", roots.c_str(), 1), 0);
    test::FakeProxy stranger(context.get_executor(), {.tls = tls_of(other)});
    test::FakeProxy known(context.get_executor(), {.tls = tls_of(of_system)});
    for (test::FakeProxy* proxy : {&trusted, &known, &stranger}) {
      const bool good = proxy != &stranger;
      ClusterAccess access = server.access("node");
      access.tls_settings.insecure = true;
      access.proxy_url = "https://127.0.0.1:" + std::to_string(proxy->port());
      const auto client = ApiClient::make(access, clock, "test").value();
      EXPECT_EQ(co_await ask(*client), good ? "node/" : "denied");
      EXPECT_EQ(proxy->asked.size(), good ? 1U : 0U);
      client->forget_connections();
      proxy->stop();
    }
    EXPECT_EQ(::unsetenv("SSL_CERT_FILE"), 0);
    EXPECT_EQ(server.requests, 2);
    co_await server.stop();
  });
}

class Observed final : public UplinkObserver {
 public:
  void answered(const http::Response& response) override { date = response.headers.get("date"); }
  void unauthorized() override { ++refused; }
  std::string date;
  int refused = 0;
};

TEST(UplinkIdentity, ARefusalOfOurOwnCredentialsIsNoAnswer) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    const Clock& clock = loop::clock_of(context.get_executor());
    Random random(1);
    test::CallerEchoServer server(context);
    const auto client = ApiClient::make(server.access("node"), clock, "test").value();
    Uplink uplink(context.get_executor(), {}, *client, clock, random);
    Observed observed;
    uplink.observe(observed);
    http::Request ours{.target = "/private"};
    const auto refused = co_await uplink.forward(std::move(ours), Delivery::whole, 5s);
    EXPECT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::denied);
    EXPECT_EQ(observed.refused, 1);
    EXPECT_EQ(observed.date, "Thu, 01 Jan 2026 00:00:00 GMT");
    EXPECT_FALSE(uplink.link().allows_reads());
    http::Request others{.target = "/private"};
    others.headers.add("Authorization", "Bearer alice");
    const auto passed = co_await uplink.forward(std::move(others), Delivery::whole, 5s);
    EXPECT_TRUE(passed) << "the caller must see the refusal";
    EXPECT_EQ(passed->status, 401);
    EXPECT_EQ(observed.refused, 1);
    client->forget_connections();
    co_await server.stop();
  });
}

TEST(UplinkIdentity, ACallerWithACertificateAloneIsNotPassedOn) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    const Clock& clock = loop::clock_of(context.get_executor());
    Random random(1);
    test::CallerEchoServer server(context);
    const auto client = ApiClient::make(server.access("node"), clock, "test").value();
    Uplink uplink(context.get_executor(), {}, *client, clock, random);
    http::Request request{.target = "/who"};
    request.peer.common_name = "system:node:a";
    http::Request with_token = request;
    const auto refused = co_await uplink.forward(std::move(request), Delivery::whole, 5s);
    EXPECT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Errc::denied);
    EXPECT_EQ(server.requests, 0);
    with_token.headers.add("Authorization", "Bearer alice");
    const auto passed = co_await uplink.forward(std::move(with_token), Delivery::whole, 5s);
    EXPECT_EQ(passed->body, "/Bearer alice");
    client->forget_connections();
    co_await server.stop();
  });
}

// A request for 200 KiB, made as for a list.
ApiRequest large(bool may_be_large = true) {
  return {.target = "/large", .may_be_large = may_be_large};
}

TEST(ApiClientCompression, GivesPlainBodiesAndCountsThoseOnTheWire) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    const Clock& clock = loop::clock_of(context.get_executor());
    test::CallerEchoServer server(context);
    const auto client = ApiClient::make(server.access("node"), clock, "test").value();
    const std::string expected(200UL << 10, 'x');
    ApiRequest asked = large();
    const auto whole = co_await client->send(std::move(asked), false, soon());
    EXPECT_EQ(whole->body, expected);
    EXPECT_FALSE(whole->headers.has("Content-Encoding"));
    EXPECT_LT(*whole->wire_bytes, 4096U);
    asked = large();
    const auto streamed = co_await client->send(std::move(asked), true, soon());
    std::string all;
    for (;;) {
      const auto piece = co_await streamed->stream->next();
      if (!piece || piece->empty()) break;
      all += *piece;
    }
    EXPECT_EQ(all, expected);
    EXPECT_LT(*streamed->wire_bytes, 4096U);
    EXPECT_LT(client->traffic().received, 16384U);
    asked = large(false);
    const auto plain = co_await client->send(std::move(asked), false, soon());
    EXPECT_EQ(plain->body, expected);
    EXPECT_EQ(plain->wire_bytes, nullptr) << "gzip was not requested";
    client->forget_connections();
    co_await server.stop();
  });
}

TEST(ApiClientCompression, RefusesMoreThanItsLimitHoweverSmallOnTheWire) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    const Clock& clock = loop::clock_of(context.get_executor());
    test::CallerEchoServer server(context);
    http::ClientLimits limits;
    limits.reader.body_bytes = 100UL << 10;
    const auto client = ApiClient::make(server.access("node"), clock, "test", limits).value();
    ApiRequest asked = large();
    const auto refused = co_await client->send(std::move(asked), false, soon());
    EXPECT_EQ(refused.error().code, Errc::exhausted);
    EXPECT_EQ(refused.error().what, "GET /large: gzip: the body is larger than 102400 bytes");
    client->forget_connections();
    co_await server.stop();
  });
}

}  // namespace
}  // namespace holdfast::agent
