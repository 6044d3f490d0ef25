#include "test/unit/agent/edge/uplink/uplink_fixture.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "agent/edge/admin/endpoints.h"
#include "platform/text.h"
#include "test/support/answered.h"
#include "test/support/edge_options.h"
#include "test/support/kubeconfig.h"

namespace holdfast::agent::uplink {
namespace {

asio::awaitable<void> stop_server(FakeApiServer& server, MonoTime deadline) {
  co_await server.stop(deadline);
}

}  // namespace

UplinkFixture::UplinkFixture(const UplinkFixtureOptions& fixture) {
  // Certificates are valid now, so set the virtual wall clock to the real time.
  if (fixture.tls) time.clock().jump_wall(SystemClock().wall() - time.clock().wall());
  const std::string scheme = fixture.tls ? "https://" : "http://";
  const std::string kubeconfig = test::write_kubeconfig(
      scratch_.path() / "kubeconfig", scheme + "127.0.0.1:1", fixture.cluster, fixture.user);
  test::set_up(options, "edge1", kubeconfig, scratch_.path() / "data");
  options.identity.secure_listen = "";
  for (std::size_t i = 0; i < fixture.servers; ++i) {
    servers.push_back(
        std::make_unique<FakeApiServer>(time.executor(), cloud, time.clock(), i, fixture.tls));
    options.identity.servers.push_back(scheme + fixture.host + ":" +
                                       std::to_string(servers[i]->port()));
  }
  cloud.put("/api/v1/nodes", "edge1");
  options.kubelet_grace = 0s;  // there is no kubelet
  options.cache_agents = {"kubelet", "kube-proxy"};
  fixture.set(options);
  EXPECT_TRUE(check(options)) << check(options).error().what;
  start();
}

UplinkFixture::~UplinkFixture() {
  if (edge) stop();
  for (const auto& server : servers) {
    time.complete(stop_server(*server, time.clock().mono() + 1s));
  }
  time.settle();
}

void UplinkFixture::start() {
  edge = Edge::make(time.executor(), options, time.clock()).value();
  EXPECT_TRUE(edge->start());
  const EdgeAddresses at = read_endpoints(options.data_dir).value();
  local_ = std::make_unique<http::Client>(http::Endpoint{at.proxy});
  admin_ = std::make_unique<http::Client>(http::Endpoint{at.admin});
}

void UplinkFixture::stop() {
  local_.reset();
  admin_.reset();
  time.complete(edge->stop(time.clock().mono() + 5s));
  edge.reset();
}

void UplinkFixture::cut_link() {
  servers[0]->cut("refuse");
  EXPECT_TRUE(until(sync::autonomy::LinkState::offline));
}

void UplinkFixture::lose_link(bool then_restart) {
  cut_link();
  if (!then_restart) return;
  stop();
  start();
  EXPECT_TRUE(until(sync::autonomy::LinkState::offline));
}

Duration UplinkFixture::longest_gap(WallTime from) {
  WallTime last = from;
  Duration longest{};
  for (const std::string& renewed : cloud.renewals) {
    const WallTime at = parse_rfc3339(renewed).value();
    if (at < from) continue;
    longest = std::max<Duration>(longest, at - last);
    last = at;
  }
  return std::max<Duration>(longest, time.clock().wall() - last);
}

void UplinkFixture::restore_link() {
  servers[0]->restore();
  EXPECT_TRUE(until(sync::autonomy::LinkState::connected));
}

http::Response UplinkFixture::ask(http::Request request) {
  http::Response answer;
  const MonoTime deadline = time.clock().mono() + 60s;
  time.complete(test::answer_into(*local_, std::move(request), deadline, answer));
  return answer;
}

http::Response UplinkFixture::ask(const std::string& target, const std::string& agent) {
  return ask(http::Request{.target = target, .headers = {{"User-Agent", agent + "/v1"}}});
}

std::string UplinkFixture::admin(const std::string& target) {
  http::Response answer;
  const MonoTime deadline = time.clock().mono() + 60s;
  time.complete(test::answer_into(*admin_, {.target = target}, deadline, answer));
  EXPECT_EQ(answer.status, 200) << target << ": " << answer.body;
  return answer.body;
}

std::vector<std::string> UplinkFixture::metric(const std::string& name) {
  std::vector<std::string> found;
  const std::string page = admin("/metrics");
  for (const std::string_view line : split(page, '\n')) {
    const bool ours = line.starts_with(name + "{") || line.starts_with(name + " ");
    if (ours) found.emplace_back(line.substr(name.size()));
  }
  return found;
}

std::optional<Duration> UplinkFixture::until(sync::autonomy::LinkState wanted, Duration limit) {
  const MonoTime began = time.clock().mono();
  if (!time.run_until(limit, [this, wanted] { return state() == wanted; })) return std::nullopt;
  return time.clock().mono() - began;
}

}  // namespace holdfast::agent::uplink
