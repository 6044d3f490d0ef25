// An agent behind an egress proxy: everything for the API server goes through it and nothing past
// it, and local callers are served without it.

#include <gtest/gtest.h>

#include "test/support/fake_proxy.h"
#include "test/unit/agent/edge/uplink/uplink_fixture.h"

namespace holdfast::agent::uplink {
namespace {

using namespace std::chrono_literals;
using sync::autonomy::LinkState;

class BehindAProxy : public testing::Test {
 protected:
  ~BehindAProxy() override {
    fixture.stop();
    if (proxy) proxy->stop();
    fixture.time.settle();
  }
  void start_proxy(test::FakeProxy::Settings settings) {
    settings.at.port = 3128;
    proxy = std::make_unique<test::FakeProxy>(fixture.time.executor(), std::move(settings));
  }
  void stop_proxy() {
    proxy->stop();
    proxy.reset();
    fixture.time.settle();
  }

  UplinkFixture fixture{{.cluster = "proxy-url: \"http://me:hunter2@127.0.0.1:3128\""}};
  std::unique_ptr<test::FakeProxy> proxy;
};

TEST_F(BehindAProxy, NothingGoesPastTheProxy) {
  const std::string server = "127.0.0.1:" + std::to_string(fixture.servers[0]->port());
  ASSERT_TRUE(fixture.until(LinkState::offline));
  EXPECT_NE(fixture.reason().find("through proxy http://127.0.0.1:3128: connect to "),
            std::string::npos)
      << fixture.reason();
  start_proxy({.user = "me", .password = "hunter2"});
  ASSERT_TRUE(fixture.until(LinkState::connected));
  EXPECT_EQ(fixture.ask("/api/v1/nodes").status, 200);
  ASSERT_FALSE(proxy->asked.empty());
  for (const std::string& each : proxy->asked) EXPECT_EQ(each, server) << "only the API server";
  stop_proxy();
  ASSERT_TRUE(fixture.until(LinkState::offline)) << "the API server itself can still be reached";
  EXPECT_EQ(fixture.ask("/api/v1/nodes").status, 200) << "answered from the cache";
}

TEST_F(BehindAProxy, ARefusalIsNamedAndCountsAsUnreachable) {
  const struct {
    std::string script;
    std::string reason;
  } rows[] = {
      {"HTTP/1.1 407 No\r\n\r\n",
       "status 407: the proxy does not accept the user and password of its URL"},
      {"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html>",
       "status 200 with a web page in place of a tunnel"},
      {"HTTP/1.1 511 Log in\r\n\r\n", "status 511: the network asks for a login"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.reason);
    start_proxy({.script = {row.script}});
    ASSERT_TRUE(fixture.time.run_until(2min, [&] {
      return fixture.reason().find(row.reason) != std::string::npos;
    })) << fixture.reason();
    EXPECT_EQ(fixture.state(), LinkState::offline);
    EXPECT_EQ(fixture.ask("/api/v1/nodes").status, 503);
    EXPECT_EQ(fixture.admin("/v1/link").find("hunter2"), std::string::npos);
    EXPECT_EQ(fixture.admin("/metrics").find("hunter2"), std::string::npos);
    stop_proxy();
  }
}

}  // namespace
}  // namespace holdfast::agent::uplink
