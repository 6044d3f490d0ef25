// TLS on both sides: which certificates are accepted, and which
// errors the others give.

#include <boost/asio/this_coro.hpp>

#include "platform/http/client.h"
#include "platform/http/server.h"
#include "platform/loop/timer.h"
#include "platform/tls/signer.h"
#include "test/support/certificates.h"
#include "test/support/run.h"

namespace holdfast::tls {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;
using ContextPtr = std::shared_ptr<const Context>;

const test::Authority& ours() {
  static const test::Authority authority("our ca");
  return authority;
}
const test::Authority& others() {
  static const test::Authority authority("another ca");
  return authority;
}

const test::Subject local_server{.common_name = "server",
                                 .names = {"DNS:localhost", "IP:127.0.0.1"}};
const test::Subject client_subject{.common_name = "system:node:a",
                                   .organizations = {"system:nodes", "edge"}};

// Answers with the names in its caller's certificate.
asio::awaitable<http::Response> who(const http::Request& request) {
  http::Response response;
  response.body = request.peer.common_name;
  for (const std::string& organization : request.peer.organizations) {
    response.body += "|" + organization;
  }
  co_return response;
}

// The answer that a client with `client_settings` gets from a server with `server_settings`.
Result<std::string> ask(const ServerSettings& server_settings,
                        const ClientSettings& client_settings,
                        const std::string& host = "127.0.0.1") {
  const auto server_context = Context::for_server(server_settings);
  const auto client_context = Context::for_client(client_settings);
  if (!server_context) return fail(server_context.error());
  if (!client_context) return fail(client_context.error());
  Result<std::string> outcome = fail(Errc::invalid, "did not run");
  test::run([&outcome, server = *server_context, client = *client_context,
             host](asio::io_context& context) -> asio::awaitable<void> {
    http::Server listening(context.get_executor(), {}, who);
    auto listener = net::Listener::open(context.get_executor(), {"127.0.0.1", 0}, server).value();
    const std::uint16_t port = listener->port();
    listening.listen(std::move(listener));
    http::Client asking({.at = {host, port}, .tls = client});
    http::Request request{.target = "/"};
    const auto answer = co_await asking.send(std::move(request), test::VirtualClock::begin + 10s);
    if (answer) {
      outcome = answer->body;
    } else {
      outcome = fail(answer.error());
    }
    asking.forget_connections();
    co_await listening.stop(test::VirtualClock::begin + 10s);
  });
  return outcome;
}

std::string text(const Result<std::string>& outcome) {
  if (outcome) return "answered " + *outcome;
  return std::string(to_string(outcome.error().code));
}

TEST(Tls, AServerIsBelievedWithAnAuthorityANameAndInItsTime) {
  test::Subject expired = local_server;
  expired.begins = -2h;
  expired.ends = -1h;
  test::Subject early = local_server;
  early.begins = 1h;
  const test::Subject elsewhere{.common_name = "127.0.0.1", .names = {"DNS:elsewhere"}};
  struct Case {
    const char* what;
    test::Subject server;
    std::string ca;
    bool insecure;
    std::string host;
    std::string outcome;
  };
  const std::string ca = ours().certificate_pem();
  const Case cases[] = {
      {"address", local_server, ca, false, "127.0.0.1", "answered "},
      {"name", local_server, ca, false, "localhost", "answered "},
      {"another authority", local_server, others().certificate_pem(), false, "127.0.0.1", "denied"},
      {"the system's authorities", local_server, "", false, "127.0.0.1", "denied"},
      {"another name", elsewhere, ca, false, "127.0.0.1", "denied"},
      {"expired", expired, ca, false, "127.0.0.1", "denied"},
      {"not valid yet", early, ca, false, "127.0.0.1", "denied"},
      {"insecure", expired, others().certificate_pem(), true, "127.0.0.1", "answered "},
  };
  for (const Case& c : cases) {
    const auto outcome =
        ask({.identity = ours().sign(c.server)}, {.ca_pem = c.ca, .insecure = c.insecure}, c.host);
    EXPECT_EQ(text(outcome), c.outcome) << c.what << ": " << (outcome ? "" : outcome.error().what);
  }
}

TEST(Tls, CertificatesAreJudgedByTheTimeThatIsGiven) {
  const WallTime today = SystemClock().wall();
  const Signer signer =
      Signer::make(Signer::make_authority("ca", today - 9000h, today + 9000h)).value();
  const std::string key = make_key_pem();
  const Names names{.common_name = "server", .alternatives = {"IP:127.0.0.1"}};
  const std::string request = make_request_pem(key, names).value();
  const Grant last_week{.not_before = today - 240h, .not_after = today - 120h, .for_server = true};
  const ServerSettings server{
      .identity = {.certificate_pem = signer.sign(request, last_week).value(), .key_pem = key}};
  struct Case {
    Duration from_now;
    const char* outcome;
  };
  const Case cases[] = {{0s, "denied"}, {-121h, "answered "}, {-241h, "denied"}, {1h, "denied"}};
  for (const auto& [from_now, outcome] : cases) {
    const WallTime time = today + from_now;
    const ClientSettings client{.ca_pem = signer.authority_pem(), .now = [time] { return time; }};
    EXPECT_EQ(text(ask(server, client)), outcome) << from_now.count();
  }
  EXPECT_EQ(text(ask(server, {.ca_pem = signer.authority_pem()})), "denied");
}

TEST(Tls, AServerMayBeKnownByAnotherName) {
  const test::Subject elsewhere{.common_name = "x", .names = {"DNS:elsewhere"}};
  ClientSettings client{.ca_pem = ours().certificate_pem()};
  const std::pair<std::string, std::string> cases[] = {
      {"elsewhere", "answered "}, {"nowhere", "denied"}, {"", "denied"}};
  for (const auto& [name, outcome] : cases) {
    client.server_name = name;
    EXPECT_EQ(text(ask({.identity = ours().sign(elsewhere)}, client)), outcome) << name;
  }
}

TEST(Tls, AClientIsKnownByItsCertificate) {
  struct Case {
    const char* what;
    Identity identity;
    bool required;
    bool good;
    std::string names;
  };
  test::Subject expired = client_subject;
  expired.begins = -2h;
  expired.ends = -1h;
  const Case cases[] = {
      {"ours", ours().sign(client_subject), true, true, "system:node:a|system:nodes|edge"},
      {"ours, optional", ours().sign(client_subject), false, true,
       "system:node:a|system:nodes|edge"},
      {"none, optional", {}, false, true, ""},
      {"none", {}, true, false, ""},
      {"another authority's", others().sign(client_subject), true, false, ""},
      {"another authority's, optional", others().sign(client_subject), false, false, ""},
      {"expired", ours().sign(expired), true, false, ""},
  };
  for (const Case& c : cases) {
    const ServerSettings server{.identity = ours().sign(local_server),
                                .client_ca_pem = ours().certificate_pem(),
                                .client_required = c.required};
    const auto outcome = ask(server, {.ca_pem = ours().certificate_pem(), .identity = c.identity});
    EXPECT_EQ(outcome.has_value(), c.good) << c.what << ": " << text(outcome);
    EXPECT_EQ(outcome.value_or(""), c.names) << c.what;
  }
}

TEST(Tls, PlainTextOnATlsPortIsAnErrorAndNotAHang) {
  const auto server = Context::for_server({.identity = ours().sign(local_server)}).value();
  const auto client = Context::for_client({.ca_pem = ours().certificate_pem()}).value();
  test::run([server, client](asio::io_context& context) -> asio::awaitable<void> {
    http::Server secure(context.get_executor(), {}, who);
    http::Server plain(context.get_executor(), {}, who);
    auto secure_at = net::Listener::open(context.get_executor(), {"127.0.0.1", 0}, server).value();
    auto plain_at = net::Listener::open(context.get_executor(), {"127.0.0.1", 0}, nullptr).value();
    http::Client to_secure({.at = {"127.0.0.1", secure_at->port()}});
    http::Client to_plain({.at = {"127.0.0.1", plain_at->port()}, .tls = client});
    secure.listen(std::move(secure_at));
    plain.listen(std::move(plain_at));
    const MonoTime deadline = test::VirtualClock::begin + 10s;
    http::Request one{.target = "/"};
    const auto first = co_await to_secure.send(std::move(one), deadline);
    EXPECT_FALSE(first);
    http::Request two{.target = "/"};
    const auto second = co_await to_plain.send(std::move(two), deadline);
    EXPECT_FALSE(second);
    EXPECT_LT(loop::clock_of(context.get_executor()).mono(), deadline);
    co_await secure.stop(test::VirtualClock::begin + 10s);
    co_await plain.stop(test::VirtualClock::begin + 10s);
  });
}

TEST(Tls, BadSettingsAreNamed) {
  const Identity good = ours().sign(local_server);
  const Identity other = ours().sign(local_server);
  const std::pair<Identity, std::string> servers[] = {
      {{"nonsense", good.key_pem}, "server: certificate"},
      {{good.certificate_pem, "nonsense"}, "server: private key"},
      {{good.certificate_pem, other.key_pem}, "server: private key"},
      {{}, "server: certificate"},
  };
  for (const auto& [identity, part] : servers) {
    const auto made = Context::for_server({.identity = identity});
    ASSERT_FALSE(made) << part;
    EXPECT_EQ(made.error().code, Errc::invalid);
    EXPECT_TRUE(made.error().what.starts_with(part)) << made.error().what;
  }
  const auto client = Context::for_client({.ca_pem = "nonsense"});
  ASSERT_FALSE(client);
  EXPECT_TRUE(client.error().what.starts_with("certificate authority")) << client.error().what;
}

}  // namespace
}  // namespace holdfast::tls
