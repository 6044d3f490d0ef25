// When an exec plug-in runs, what becomes of its credentials, and what its failures change: in
// virtual time, with a function in place of the process.

#include "agent/client/credential_plugin.h"

#include <gtest/gtest.h>

#include <boost/json/object.hpp>

#include "agent/client/api_client.h"
#include "sync/wire/json.h"
#include "test/support/run.h"
#include "test/unit/agent/client/caller_echo_server.h"

namespace holdfast::agent {
namespace {

using namespace std::chrono_literals;
namespace json = boost::json;

constexpr const char* exec_v1 = "client.authentication.k8s.io/v1";

std::string printed(const std::string& status) {
  return std::string(R"({"kind":"ExecCredential","apiVersion":")") + exec_v1 + R"(","status":{)" +
         status + "}}";
}

TEST(ExecCredentialOutput, IsRead) {
  const auto token = parse_exec_credential(
      printed(R"("token":"t","expirationTimestamp":"2015-01-01T13:00:00Z","more":1)"), exec_v1);
  ASSERT_TRUE(token) << token.error().what;
  EXPECT_EQ(token->token, "t");
  EXPECT_EQ(token->until, test::VirtualClock().wall() + 1h);
  const tls::Identity made = test::authority().sign({.common_name = "a"});
  json::object status;
  status["clientCertificateData"] = made.certificate_pem;
  status["clientKeyData"] = made.key_pem;
  const std::string both = sync::wire::serialize(status);
  const auto pair = parse_exec_credential(printed(both.substr(1, both.size() - 2)), exec_v1);
  ASSERT_TRUE(pair) << pair.error().what;
  EXPECT_EQ(pair->identity.key_pem, made.key_pem);
  EXPECT_EQ(pair->until, std::nullopt);
}

TEST(ExecCredentialOutput, MistakesAreNamedWithoutTheText) {
  const std::pair<std::string, std::string> rows[] = {
      {"", "not a JSON object"},
      {"hunter2", "not a JSON object"},
      {"[1]", "not a JSON object"},
      {std::string(2000, '['), "not a JSON object"},
      {R"({"kind":"Pod"})", "its kind is not ExecCredential"},
      {R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1"})",
       "its apiVersion is not client.authentication.k8s.io/v1"},
      {R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1"})",
       "it has no status"},
      {printed(""), "neither a token nor a certificate"},
      {printed(R"("token":7)"), "token is not a string"},
      {printed(R"("token":"hunter2\r\nX: y")"), "the token has characters that HTTP forbids"},
      {printed(R"("token":"hunter2 ")"), "the token has characters that HTTP forbids"},
      {printed(R"("token":"hunter2","expirationTimestamp":"soon")"),
       "expirationTimestamp is not a time"},
      {printed(R"("clientKeyData":"hunter2")"),
       "clientCertificateData and clientKeyData go together"},
      {printed(R"("clientKeyData":"hunter2","clientCertificateData":"x")"),
       "the client certificate and key are not a valid pair"},
  };
  for (const auto& [output, why] : rows) {
    const auto read = parse_exec_credential(output, exec_v1);
    ASSERT_FALSE(read) << output;
    EXPECT_EQ(read.error().what, "its output: " + why);
  }
}

// A plug-in whose results the test sets.
class PluginTest : public testing::Test {
 protected:
  asio::awaitable<Result<std::string>> run(MonoTime /*deadline*/) {
    ++runs;
    Result<std::string> result = next;
    if (takes > Duration::zero()) co_await loop::wait_for(takes);
    co_return result;
  }
  std::shared_ptr<CredentialPlugin> make(const PluginLimits& limits = {}) {
    ExecConfig config{.api_version = exec_v1, .command = "plug-in"};
    return std::make_shared<CredentialPlugin>(
        std::move(config),
        [this](const ExecConfig&, const PluginLimits&, MonoTime deadline) { return run(deadline); },
        limits);
  }
  // The token that a request would be sent with, or the error.
  std::string token(Duration limit = 10s) {
    std::string text;
    time.complete(token_into(limit, text));
    return text;
  }
  asio::awaitable<void> token_into(Duration limit, std::string& text) {
    const MonoTime deadline = time.clock().mono() + limit;
    const auto got = co_await CredentialPlugin::get(plugin, time.clock(), deadline);
    if (got) used = *got;
    text = got ? (*got)->token : std::string(to_string(got.error().code)) + got.error().what;
  }
  // The body of the answer, or the error.
  asio::awaitable<std::string> said_by(ApiClient& client, std::string target,
                                       std::string authorization) {
    ApiRequest request{.target = std::move(target), .authorization = std::move(authorization)};
    const MonoTime deadline = time.clock().mono() + 10s;
    const auto answer = co_await client.call(std::move(request), deadline);
    co_return answer ? *answer : answer.error().what;
  }
  void gives(const std::string& token, const std::string& until = "") {
    const std::string end = until.empty() ? "" : R"(,"expirationTimestamp":")" + until + '"';
    next = printed(R"("token":")" + token + '"' + end);
  }

  test::VirtualTime time;
  int runs = 0;
  Duration takes{};
  Result<std::string> next = std::string();
  CredentialPlugin::CredentialPtr used;
  std::shared_ptr<CredentialPlugin> plugin = make();
};

TEST_F(PluginTest, ACredentialIsKeptUntilItEnds) {
  gives("first", "2015-01-01T13:00:00Z");
  EXPECT_EQ(token(), "first");
  gives("second");
  time.run(59min);
  EXPECT_EQ(token(), "first");
  EXPECT_EQ(runs, 1);
  time.run(1min);
  EXPECT_EQ(token(), "second");
  time.clock().jump_wall(24h * 365);
  EXPECT_EQ(token(), "second") << "it has no end";
  EXPECT_EQ(runs, 2);
}

TEST_F(PluginTest, ARefusedCredentialIsReplacedButNotAllTheTime) {
  gives("first");
  EXPECT_EQ(token(), "first");
  const auto first = used;
  gives("second");
  time.run(10s);
  plugin->refused(first);
  EXPECT_EQ(token(), "second");
  plugin->refused(first);
  EXPECT_EQ(token(), "second") << "a late answer is not about the new credential";
  EXPECT_EQ(runs, 2);
  const MonoTime began = time.clock().mono();
  for (int second = 0; second < 60; ++second) {
    plugin->refused(used);
    EXPECT_EQ(token(), "second");
    time.run(1s);
  }
  EXPECT_LE(runs, 3 + (time.clock().mono() - began) / 10s);
}

TEST_F(PluginTest, AFailureKeepsTheLastCredentialAndIsTriedLessAndLessOften) {
  gives("first", "2015-01-01T13:00:00Z");
  EXPECT_EQ(token(), "first");
  next = fail(Errc::unavailable, "exit code 1");
  time.run(1h);
  for (int minute = 0; minute < 60; ++minute) {
    EXPECT_EQ(token(), "first");
    time.run(1min);
  }
  EXPECT_LE(runs, 20);
  EXPECT_GE(runs, 10) << "every 5 minutes at least";
  gives("second");
  time.run(5min);
  EXPECT_EQ(token(), "second");
}

TEST_F(PluginTest, WithoutACredentialTheFailureIsTold) {
  plugin = make({.pause_min = 30s});
  next = fail(Errc::not_found, "start plug-in: No such file; get it");
  EXPECT_EQ(token(), "deniedcredential plug-in plug-in: start plug-in: No such file; get it");
  gives("first");
  EXPECT_EQ(token().substr(0, 6), "denied") << "not tried again at once";
  time.run(30s);
  EXPECT_EQ(token(), "first");
}

TEST_F(PluginTest, RequestsWaitForOneRunAndNotTooLong) {
  takes = 3s;
  gives("first");
  std::string texts[3];
  loop::Tasks tasks(time.executor());
  for (std::string& text : texts) tasks.spawn("get", token_into(10s, text));
  time.complete(tasks.join());
  for (const std::string& text : texts) EXPECT_EQ(text, "first");
  EXPECT_EQ(runs, 1);
  takes = 1min;
  time.run(10s);
  plugin->refused(used);
  const MonoTime began = time.clock().mono();
  EXPECT_EQ(token(2s), "first");
  EXPECT_EQ(time.clock().mono() - began, 1s) << "half of the time is left for the request";
  plugin = make();
  EXPECT_EQ(token(2s), "timeoutcredential plug-in: deadline passed");
  plugin.reset();
  time.finish();
  EXPECT_LT(time.clock().mono() - began, 10s) << "the last owner's end ends the run";
}

TEST_F(PluginTest, AClientUsesItsTokensAndCertificates) {
  time.clock().jump_wall(SystemClock().wall() - time.clock().wall());
  test::run(time, [this](asio::io_context& context) -> asio::awaitable<void> {
    test::CallerEchoServer server(context);
    ClusterAccess access = server.access("");
    access.plugin = plugin;
    const auto client = ApiClient::make(access, time.clock(), "test").value();
    const auto ask = [&client, this](const char* target, const char* authorization = "") {
      return said_by(*client, target, authorization);
    };
    gives("secret");
    EXPECT_EQ(co_await ask("/who"), "/Bearer secret");
    EXPECT_EQ(co_await ask("/who", "Bearer alice"), "/Bearer alice");
    EXPECT_EQ(runs, 1);
    const tls::Identity made = test::authority().sign({.common_name = "node"});
    json::object status;
    status["clientCertificateData"] = made.certificate_pem;
    status["clientKeyData"] = made.key_pem;
    const std::string both = sync::wire::serialize(status);
    next = printed(both.substr(1, both.size() - 2));
    co_await loop::wait_for(10s);
    (void)co_await ask("/private", "Bearer alice");
    EXPECT_EQ(co_await ask("/who"), "/Bearer secret") << "that 401 was not for us";
    (void)co_await ask("/private");
    EXPECT_EQ(co_await ask("/who"), "node/");
    EXPECT_EQ(co_await ask("/who", "Bearer alice"), "/Bearer alice") << "without our certificate";
    EXPECT_EQ(runs, 2);
    client->forget_connections();
    co_await server.stop();
  });
}

}  // namespace
}  // namespace holdfast::agent
