// Who gets into the kubelet's API: over TLS on loopback.

#include "agent/node/kubelet/kubelet_api.h"

#include <algorithm>
#include <deque>

#include "platform/http/client.h"
#include "platform/loop/clock.h"
#include "platform/loop/timer.h"
#include "platform/net/transport.h"
#include "test/support/certificates.h"
#include "test/support/run.h"
#include "test/unit/agent/node/behind_edge/fake_runtime.h"

namespace holdfast::agent::node {
namespace {

using namespace std::chrono_literals;

// The kubelet's API of a node that has no pods. It accepts certificates of `authority`.
struct NodeWithoutPods {
  NodeWithoutPods(boost::asio::io_context& context, const holdfast::test::Authority& authority)
      : runtime(containers, loop::clock_of(context.get_executor())),
        api(KubeletApi::open(context.get_executor(), {.node_name = "n",
                                                      .listen = {"127.0.0.1", 0},
                                                      .client_ca_pem = authority.certificate_pem()})
                .value()) {
    api->start({.pod = [](auto, auto) { return nullptr; }, .runtime = runtime});
  }

  test::FakeContainers containers;
  const test::FakeRuntime runtime;
  std::unique_ptr<KubeletApi> api;
};

// What a caller with this certificate gets: the status, or "refused" during the handshake.
asio::awaitable<std::string> ask_as(std::uint16_t port, tls::Identity identity,
                                    std::string target) {
  const Clock& clock = loop::clock_of(co_await asio::this_coro::executor);
  const auto tls = tls::Context::for_client({.identity = identity, .insecure = true}).value();
  http::Client client({.at = {"127.0.0.1", port}, .tls = tls});
  http::Request request{.target = target, .headers = {{"Authorization", "Bearer pod-token"}}};
  const auto answer = co_await client.send(std::move(request), clock.mono() + 10s);
  co_return answer ? std::to_string(answer->status) + " " + answer->body : "refused";
}

TEST(KubeletApi, OnlyTheApiServerGetsIn) {
  holdfast::test::run([](boost::asio::io_context& context) -> asio::awaitable<void> {
    const holdfast::test::Authority authority("kubelet clients");
    const holdfast::test::Authority other("cluster");
    NodeWithoutPods node(context, authority);
    const std::string log = "/containerLogs/ns/p/c";
    const tls::Identity server = authority.sign({.common_name = std::string(api_server_name)});
    const struct {
      const char* who;
      tls::Identity identity;
      std::string target;
      std::string seen;
    } rows[] = {
        {"a stranger", {}, log, "refused"},
        {"another authority's API server",
         other.sign({.common_name = std::string(api_server_name)}), log, "refused"},
        {"an expired one",
         authority.sign({.common_name = std::string(api_server_name), .ends = -30s}), log,
         "refused"},
        {"a node",
         authority.sign({.common_name = "system:node:a", .organizations = {"system:nodes"}}), log,
         "403 Forbidden (user=system:node:a, resource=nodes, subresource=proxy)"},
        {"the API server", server, log, "404 pod \"p\" does not exist"},
        {"an administrator",
         authority.sign({.common_name = "root", .organizations = {"system:masters"}}), log,
         "404 pod \"p\" does not exist"},
        {"another path", server, "/pods", "404 404 page not found\n"},
        {"exec without a command", server, "/exec/ns/p/c?output=1",
         "400 you must specify a command"},
        {"bad options", server, log + "?tailLines=x",
         "400 strconv.ParseInt: parsing \"x\": invalid syntax"},
        {"impossible options", server, log + "?limitBytes=0",
         "422 limitBytes: Invalid value: 0: must be greater than 0"},
    };
    for (const auto& row : rows) {
      const std::string seen = co_await ask_as(node.api->port(), row.identity, row.target);
      EXPECT_EQ(seen, row.seen) << row.who;
    }
    co_await node.api->stop(loop::clock_of(context.get_executor()).mono() + 1s);
  });
}

// How many of `count` callers on another machine get an answer while all keep their connections.
asio::awaitable<int> answered_at_once(std::uint16_t port, tls::Identity identity, int count) {
  const Clock& clock = loop::clock_of(co_await asio::this_coro::executor);
  const auto tls = tls::Context::for_client({.identity = identity, .insecure = true}).value();
  std::deque<http::Client> clients;
  int answered = 0;
  for (int i = 0; i < count; ++i) {
    http::Client& client = clients.emplace_back(http::Endpoint{{"127.0.0.1", port}, tls});
    http::Request request{.target = "/containerLogs/ns/p/c"};
    const auto answer = co_await client.send(std::move(request), clock.mono() + 10s);
    answered += answer ? 1 : 0;
  }
  co_return answered;
}

// How many of `count` connections of a caller who says nothing stay open.
asio::awaitable<std::ptrdiff_t> kept_open(std::uint16_t port, int count) {
  const Clock& clock = loop::clock_of(co_await asio::this_coro::executor);
  std::vector<std::unique_ptr<net::Connection>> connections;
  for (int i = 0; i < count; ++i) {
    const net::HostPort at{"127.0.0.1", port};
    auto made = co_await net::connect(at, nullptr, clock.mono() + 1s);
    if (made) connections.push_back(*std::move(made));
  }
  co_await loop::sleep_until(clock.mono() + 1s);
  co_return std::count_if(connections.begin(), connections.end(),
                          [](const auto& connection) { return connection->seems_open(); });
}

// Each `kubectl logs` and `exec` is one connection of the API server. Callers who are refused, too,
// must not take its place.
TEST(KubeletApi, TheApiServerMayHaveManyConnectionsAndOtherCallersFew) {
  holdfast::test::VirtualTime time;
  time.network().set_caller({.uid = 4711});
  holdfast::test::run(time, [](boost::asio::io_context& context) -> asio::awaitable<void> {
    const holdfast::test::Authority authority("kubelet clients");
    NodeWithoutPods node(context, authority);
    const tls::Identity server = authority.sign({.common_name = std::string(api_server_name)});
    EXPECT_EQ(co_await answered_at_once(node.api->port(), server, 64), 64);
    EXPECT_EQ(co_await kept_open(node.api->port(), 30), 8);
    co_await node.api->stop(loop::clock_of(context.get_executor()).mono() + 1s);
  });
}

TEST(KubeletApi, NeedsASoundAuthority) {
  holdfast::test::run([](boost::asio::io_context& context) -> asio::awaitable<void> {
    EXPECT_FALSE(KubeletApi::open(
        context.get_executor(),
        {.node_name = "n", .listen = {"127.0.0.1", 0}, .client_ca_pem = "not PEM"}));
    co_return;
  });
}

}  // namespace
}  // namespace holdfast::agent::node
