#include "agent/cloud/endpoints.h"

#include "platform/http/client.h"
#include "platform/loop/timer.h"
#include "platform/net/transport.h"
#include "platform/tls/context.h"
#include "test/support/certificates.h"
#include "test/support/run.h"
#include "test/support/scratch_dir.h"

#include <fstream>

namespace holdfast::agent {
namespace {

using namespace std::chrono_literals;

// Pages with two health checks that the test can make fail.
struct Health {
  bool led = true;
  bool cached = true;

  Endpoints::Pages pages() {
    const auto when = [](const bool& good, const char* what) {
      return [&good, what]() -> Status {
        if (good) return {};
        return fail(Errc::unavailable, what);
      };
    };
    return {{{"leaderElection", when(led, "late")}}, {{"caches", when(cached, "empty")}}, [] {
              return std::string("numbers 1\n");
            }};
  }
};

TEST(Endpoints, AnswerAsUpstreamDoes) {
  test::VirtualTime time;
  Health health;
  Endpoints endpoints(time.executor(), health.pages());
  const auto get = [&endpoints](const char* target) {
    const http::Request request{.target = target};
    const http::Response response = endpoints.answer(request);
    return std::to_string(response.status) + " " + response.body;
  };
  for (const char* page : {"/healthz", "/livez", "/readyz"}) EXPECT_EQ(get(page), "200 ok");
  EXPECT_EQ(get("/healthz?verbose"),
            "200 [+]ping ok\n[+]leaderElection ok\nhealthz check passed\n");
  EXPECT_EQ(get("/metrics"), "200 numbers 1\n");
  EXPECT_EQ(get("/"), "404 no such page: /\n");
  health.led = false;
  EXPECT_EQ(get("/healthz"),
            "500 [+]ping ok\n[-]leaderElection failed: late\nhealthz check failed\n");
  EXPECT_EQ(get("/livez").substr(0, 3), "500");
  EXPECT_EQ(get("/readyz"), "200 ok");
  health.cached = false;
  EXPECT_EQ(get("/readyz"), "500 [+]ping ok\n[-]caches failed: empty\nreadyz check failed\n");
  const http::Request post{.method = http::Method::post, .target = "/healthz"};
  EXPECT_EQ(endpoints.answer(post).status, 405);
}

// A listener on a free port, which it occupies until it is destroyed.
std::unique_ptr<net::Listener> taken(asio::io_context& context) {
  return net::Listener::open(context.get_executor(), {"127.0.0.1", 0}, nullptr).value();
}

TEST(Endpoints, APortThatIsTakenIsNamed) {
  test::VirtualTime time;
  Health health;
  const auto other = taken(time.context());
  Endpoints endpoints(time.executor(), health.pages());
  const Status listening = endpoints.listen({.secure_port = other->port()});
  ASSERT_FALSE(listening);
  EXPECT_EQ(listening.error().what, "--secure-port: listen on 127.0.0.1:" +
                                        std::to_string(other->port()) + ": Address already in use");
}

TEST(Endpoints, NothingIsServedAtPortZero) {
  test::VirtualTime time;
  Health health;
  Endpoints endpoints(time.executor(), health.pages());
  EXPECT_TRUE(endpoints.listen({.secure_port = 0}));
  EXPECT_EQ(endpoints.port(), 0);
}

TEST(Endpoints, ServeTlsWithACertificate) {
  test::run([](asio::io_context& context) -> asio::awaitable<void> {
    const test::ScratchDir scratch;
    const test::Authority authority("ca");
    const test::Subject subject{.common_name = "cloud", .names = {"IP:127.0.0.1"}};
    const tls::Identity identity = authority.sign(subject);
    const std::string cert = scratch.path() / "tls.crt";
    const std::string key = scratch.path() / "tls.key";
    std::ofstream(cert) << identity.certificate_pem;
    std::ofstream(key) << identity.key_pem;
    Health health;
    Endpoints endpoints(context.get_executor(), health.pages());
    auto free = taken(context);
    const EndpointSettings settings{
        .secure_port = free->port(), .tls_cert_file = cert, .tls_private_key_file = key};
    free.reset();
    EXPECT_TRUE(endpoints.listen(settings));
    tls::ClientSettings trust;
    trust.ca_pem = authority.certificate_pem();
    http::Endpoint to{.at = {"127.0.0.1", endpoints.port()}};
    to.tls = tls::Context::for_client(trust).value();
    http::Client client(to);
    http::Request request{.target = "/healthz"};
    const MonoTime deadline = test::VirtualClock::begin + 5min;
    const auto response = co_await client.send(std::move(request), deadline);
    EXPECT_TRUE(response && response->body == "ok");
    co_await endpoints.stop(deadline);
  });
}

TEST(Endpoints, ACertificateThatIsNoneIsRefused) {
  test::VirtualTime time;
  const test::ScratchDir scratch;
  const std::string file = scratch.path() / "file";
  std::ofstream(file) << "nonsense";
  Health health;
  Endpoints endpoints(time.executor(), health.pages());
  EXPECT_FALSE(endpoints.listen({.tls_cert_file = file, .tls_private_key_file = file}));
  EXPECT_FALSE(endpoints.listen({.tls_cert_file = file + "2", .tls_private_key_file = file}));
}

}  // namespace
}  // namespace holdfast::agent
