// HTTP clients whose connections go through a proxy, in virtual time: every scheme, every refusal,
// and proxies that attack their client.

#include <gtest/gtest.h>

#include "platform/http/client.h"
#include "platform/http/server.h"
#include "platform/proxy/url.h"
#include "test/support/certificates.h"
#include "test/support/echo.h"
#include "test/support/fake_proxy.h"
#include "test/support/virtual_time.h"

namespace holdfast::proxy {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using http::Request;
using http::Response;

const test::Authority& proxy_authority() {
  static const test::Authority made("ca");
  return made;
}

std::shared_ptr<const tls::Context> server_of(const std::string& name,
                                              std::vector<std::string> protocols = {}) {
  tls::ServerSettings settings{
      .identity = proxy_authority().sign({.common_name = "server", .names = {"DNS:" + name}})};
  settings.protocols = std::move(protocols);
  return tls::Context::for_server(settings).value();
}

// The server "cloud" and a proxy that reaches it. Only the proxy may connect to the server.
class ProxiedClient : public testing::Test {
 protected:
  ProxiedClient() {
    network.names().set("cloud", {"10.0.0.7"});
    network.names().set("gate", {"127.0.0.1"});
  }
  void serve(bool with_tls, std::vector<std::string> protocols = {}) {
    server =
        std::make_unique<http::Server>(time.executor(), http::ServerLimits{},
                                       [this](const Request& request) { return answer(request); });
    auto tls = with_tls ? server_of("cloud", std::move(protocols)) : nullptr;
    server->listen(net::Listener::open(time.executor(), {"10.0.0.7", 443}, tls).value());
  }
  void start_proxy(test::FakeProxy::Settings settings) {
    fake = std::make_unique<test::FakeProxy>(time.executor(), std::move(settings));
  }
  // A client of the server through `scheme://[userinfo@]gate:port`.
  void make_client(const std::string& scheme, const std::string& userinfo, bool with_tls) {
    const std::string where = userinfo + "gate:" + std::to_string(fake->port());
    const auto url = parse_url(scheme + "://" + where).value();
    http::Endpoint to{.at = {"cloud", 443}};
    if (with_tls) {
      to.tls = tls::Context::for_client({.ca_pem = proxy_authority().certificate_pem()}).value();
    }
    to.proxy = make(url, {.ca_pem = proxy_authority().certificate_pem()}).value();
    client = std::make_unique<http::Client>(std::move(to));
  }
  // The body of the answer to a GET, or the error.
  std::string get(Duration limit = 10s) {
    std::string text;
    time.complete(get_into(limit, text));
    return text;
  }
  asio::awaitable<void> get_into(Duration limit, std::string& text) {
    Request request{.target = "/version"};
    auto got = co_await client->send(std::move(request), time.clock().mono() + limit);
    text = got ? got->body : std::string(to_string(got.error().code)) + ": " + got.error().what;
  }
  asio::awaitable<Response> answer(const Request& request) {
    ++requests;
    Response response{.status = 200, .body = "v1"};
    if (request.headers.has("upgrade")) {
      response = Response{.status = 101, .tunnel = far};
      response.headers.add("Connection", "Upgrade");
      response.headers.add("Upgrade", "t");
    }
    co_return response;
  }
  ~ProxiedClient() override {
    client.reset();
    if (fake) fake->stop();
    if (server) time.complete(server->stop(time.clock().mono() + 1s));
    time.settle();
    server.reset();
    fake.reset();
    time.settle();
  }

  test::VirtualTime time;
  net::MemoryNetwork& network = time.network();
  std::shared_ptr<test::Echo> far = std::make_shared<test::Echo>(time.executor());
  std::unique_ptr<http::Server> server;
  std::unique_ptr<test::FakeProxy> fake;
  std::unique_ptr<http::Client> client;
  int requests = 0;
};

struct Way {
  std::string scheme;
  std::string userinfo;
  bool tls = true;                              // to the server
  std::vector<std::string> protocols = {"h2"};  // of the server
};

class ProxiedWays : public ProxiedClient, public testing::WithParamInterface<Way> {};

TEST_P(ProxiedWays, ReachTheServer) {
  const Way& way = GetParam();
  serve(way.tls, way.protocols);
  test::FakeProxy::Settings settings{.socks = way.scheme.starts_with("socks")};
  if (way.scheme == "https") settings.tls = server_of("gate");
  if (!way.userinfo.empty()) settings.user = "me";
  if (!way.userinfo.empty()) settings.password = "p:w@";
  start_proxy(std::move(settings));
  make_client(way.scheme, way.userinfo, way.tls);
  EXPECT_EQ(get(), "v1");
  EXPECT_EQ(get(), "v1");
  EXPECT_EQ(requests, 2);
  EXPECT_EQ(fake->asked, std::vector<std::string>{"cloud:443"}) << "the connection is kept";
  client->forget_connections();
  EXPECT_EQ(get(), "v1");
  EXPECT_EQ(fake->asked.size(), 2u);
  EXPECT_EQ(fake->received.find("GET"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(, ProxiedWays,
                         testing::Values(Way{"http", ""}, Way{"http", "me:p%3Aw%40@"},
                                         Way{"http", "", false}, Way{"http", "", true, {}},
                                         Way{"https", ""}, Way{"https", "me:p%3Aw%40@"},
                                         Way{"https", "", false}, Way{"https", "", true, {}},
                                         Way{"socks5", ""}, Way{"socks5", "me:p%3Aw%40@"},
                                         Way{"socks5h", "", false}, Way{"socks5", "", true, {}}));

asio::awaitable<void> read_until_end(std::shared_ptr<net::Connection> from, std::string& heard) {
  std::array<char, 100> buffer{};
  for (;;) {
    const auto count = co_await from->read_some(buffer);
    if (count.value_or(0) == 0) {
      heard += count ? "<end>" : "<cut>";
      co_return;
    }
    heard.append(buffer.data(), *count);
  }
}

TEST_F(ProxiedClient, UpgradesPassAndEndOneSideAtATime) {
  for (const char* scheme : {"http", "https"}) {
    SCOPED_TRACE(scheme);
    if (!server) serve(true, {"h2", "http/1.1"});
    test::FakeProxy::Settings settings;
    if (std::string_view(scheme) == "https") settings.tls = server_of("gate");
    start_proxy(std::move(settings));
    make_client(scheme, "", true);
    far = std::make_shared<test::Echo>(time.executor());
    far->last_words = "last words";
    std::string heard;
    std::shared_ptr<net::Connection> near;
    const auto use = [&]() -> asio::awaitable<void> {
      Request request{.target = "/exec"};
      request.headers.add("Connection", "Upgrade");
      request.headers.add("Upgrade", "t");
      auto opened = co_await client->open(std::move(request), MonoTime::max());
      near = opened->tunnel;
      const Status sent = co_await near->write("hello ");
      near->shutdown_write();
      co_await read_until_end(near, heard);
    };
    time.complete(use());
    EXPECT_EQ(heard, "hello last words<end>");
    near->close();
    time.settle();
    EXPECT_TRUE(far->closed());
  }
}

// A proxy that answers `script`, and the error of a request through it.
struct Refusal {
  std::string name;
  std::string scheme;
  std::string userinfo;
  std::vector<std::string> script;
  std::string error;  // after "through proxy NAME: "
};

const std::string html = "Content-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>";
const std::string five_zero("\5\0", 2);

const Refusal refusals[] = {
    {"wants_credentials",
     "http",
     "",
     {"HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=\"x\"\r\n\r\n"},
     "unavailable: CONNECT cloud:443: status 407: the proxy asks for a user and password, and its "
     "URL contains none"},
    {"wrong_credentials",
     "http",
     "me:secret@",
     {"HTTP/1.1 407 No\r\n\r\n"},
     "unavailable: CONNECT cloud:443: status 407: the proxy does not accept the user and password "
     "of its URL"},
    {"other_scheme",
     "http",
     "me:secret@",
     {"HTTP/1.1 407 No\r\nProxy-Authenticate: NTLM\r\nProxy-Authenticate: Negotiate x\r\n"
      "Proxy-Authenticate: \x80\r\n\r\n"},
     "unavailable: CONNECT cloud:443: status 407: the proxy offers only NTLM, Negotiate; only "
     "Basic is supported"},
    {"forbidden",
     "http",
     "",
     {"HTTP/1.1 403 Forbidden\r\n" + html},
     "unavailable: CONNECT cloud:443: refused with status 403 and a web page"},
    {"bad_gateway",
     "http",
     "",
     {"HTTP/1.0 502 Bad Gateway\r\n\r\n"},
     "unavailable: CONNECT cloud:443: refused with status 502"},
    {"redirect",
     "http",
     "",
     {"HTTP/1.1 302 Found\r\nLocation: http://portal/\r\n\r\n"},
     "unavailable: CONNECT cloud:443: refused with status 302"},
    {"login",
     "http",
     "",
     {"HTTP/1.1 511 Network Authentication Required\r\n" + html},
     "unavailable: CONNECT cloud:443: status 511: the network asks for a login"},
    {"page",
     "http",
     "",
     {"HTTP/1.1 200 OK\r\n" + html},
     "corrupt: CONNECT cloud:443: status 200 with a web page in place of a tunnel"},
    {"api_answer",
     "http",
     "",
     {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nv1"},
     "corrupt: CONNECT cloud:443: bytes follow the answer before anything was sent to the server"},
    {"injected_head",
     "http",
     "",
     {"HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"},
     "corrupt: CONNECT cloud:443: bytes follow the answer before anything was sent to the server"},
    {"not_http",
     "http",
     "",
     {"SSH-2.0-OpenSSH\r\n"},
     "corrupt: CONNECT cloud:443: not an answer of a proxy: malformed status line"},
    {"control_characters",
     "http",
     "",
     {"HTTP/1.1 200 \x1b[2J\r\n\r\n"},
     "corrupt: CONNECT cloud:443: not an answer of a proxy: a control character or a bare LF"},
    {"too_long",
     "http",
     "",
     {"HTTP/1.1 200 OK\r\nX: " + std::string(20000, 'x')},
     "corrupt: CONNECT cloud:443: not an answer of a proxy: too long"},
    {"silent", "http", "", {""}, "timeout: CONNECT cloud:443: read: deadline passed"},
    {"slow", "http", "", {"HTTP/1.1 2"}, "timeout: CONNECT cloud:443: read: deadline passed"},
    {"interim",
     "http",
     "",
     {"HTTP/1.1 102 Processing\r\n\r\n"},
     "timeout: CONNECT cloud:443: read: deadline passed"},
    {"socks_wants_credentials",
     "socks5",
     "",
     {"\5\xff"},
     "unavailable: SOCKS cloud:443: the proxy asks for a user and password, and its URL contains "
     "none"},
    {"socks_no_method",
     "socks5",
     "me:secret@",
     {"\5\xff"},
     "unavailable: SOCKS cloud:443: the proxy accepts no user and password"},
    {"socks_wrong_credentials",
     "socks5",
     "me:secret@",
     {"\5\2", "\1\1"},
     "unavailable: SOCKS cloud:443: the proxy does not accept the user and password of its URL"},
    {"socks_method_not_offered",
     "socks5",
     "",
     {"\5\2"},
     "corrupt: SOCKS cloud:443: not an answer of a SOCKS 5 proxy"},
    {"socks_rules",
     "socks5",
     "",
     {five_zero, std::string("\5\2\0\1\0", 5)},
     "unavailable: SOCKS cloud:443: reply 2: not allowed by the proxy's rules"},
    {"socks_unknown_reply",
     "socks5",
     "",
     {five_zero, std::string("\5\xfe\0\1\0", 5)},
     "unavailable: SOCKS cloud:443: reply 254"},
    {"socks_unknown_address",
     "socks5",
     "",
     {five_zero, std::string("\5\0\0\7\0", 5)},
     "corrupt: SOCKS cloud:443: not an answer of a SOCKS 5 proxy"},
    {"socks_is_http",
     "socks5",
     "",
     {"HTTP/1.1 400 Bad Request\r\n\r\n"},
     "corrupt: SOCKS cloud:443: not an answer of a SOCKS 5 proxy"},
    {"socks_silent", "socks5", "", {five_zero}, "timeout: SOCKS cloud:443: read: deadline passed"},
};

class ProxyRefusals : public ProxiedClient, public testing::WithParamInterface<Refusal> {};

TEST_P(ProxyRefusals, AreNamedAndNothingIsSent) {
  const Refusal& row = GetParam();
  for (const bool with_tls : {true, false}) {
    start_proxy({.script = row.script});
    make_client(row.scheme, row.userinfo, with_tls);
    const std::string said = get(5s);
    const std::string name = row.scheme + "://gate:" + std::to_string(fake->port());
    const std::size_t colon = row.error.find(": ");
    EXPECT_EQ(said,
              row.error.substr(0, colon) + ": through proxy " + name + row.error.substr(colon));
    EXPECT_EQ(said.find("secret"), std::string::npos);
    EXPECT_EQ(fake->received.find("GET"), std::string::npos);
    client.reset();
    fake->stop();
    time.settle();
  }
}

INSTANTIATE_TEST_SUITE_P(, ProxyRefusals, testing::ValuesIn(refusals),
                         [](const auto& row) { return row.param.name; });

TEST_F(ProxiedClient, AnAnswerWithoutEndCostsLittle) {
  start_proxy({.floods = true});
  make_client("http", "", true);
  EXPECT_NE(get().find("too long"), std::string::npos);
  time.run(1min);
  EXPECT_LT(fake->flooded, 1u << 20) << "the connection was closed";
}

TEST_F(ProxiedClient, AProxyIsVerified) {
  serve(true);
  start_proxy({.tls = server_of("elsewhere")});
  make_client("https", "me:secret@", true);
  const std::string said = get();
  EXPECT_NE(said.find("certificate verify failed"), std::string::npos) << said;
  EXPECT_TRUE(said.starts_with("denied: through proxy https://gate:")) << said;
  EXPECT_EQ(fake->received, "") << "the password was not sent";
  EXPECT_EQ(requests, 0);
}

TEST_F(ProxiedClient, AServerBehindAProxyIsVerified) {
  server =
      std::make_unique<http::Server>(time.executor(), http::ServerLimits{},
                                     [this](const Request& request) { return answer(request); });
  server->listen(
      net::Listener::open(time.executor(), {"10.0.0.7", 443}, server_of("gate")).value());
  start_proxy({});
  make_client("http", "", true);
  EXPECT_NE(get().find("certificate verify failed"), std::string::npos);
  EXPECT_EQ(requests, 0);
}

TEST_F(ProxiedClient, AProxyThatIsAwayIsNamedAndNothingGoesPastIt) {
  serve(true);
  start_proxy({});
  make_client("http", "", true);
  const std::string port = std::to_string(fake->port());
  network.refuse({"127.0.0.1", fake->port()}, true);
  EXPECT_EQ(get(), "unavailable: through proxy http://gate:" + port + ": connect to gate:" + port +
                       " (127.0.0.1): Connection refused");
  network.refuse({"127.0.0.1", fake->port()}, false);
  network.names().set("gate", {});
  time.run(5s);  // until the name is looked up again
  EXPECT_NE(get().find("resolve gate"), std::string::npos);
  EXPECT_EQ(requests, 0);
  network.names().set("gate", {"127.0.0.1"});
  EXPECT_EQ(get(), "v1");
}

}  // namespace
}  // namespace holdfast::proxy
