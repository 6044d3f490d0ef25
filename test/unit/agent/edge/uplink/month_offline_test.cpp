// A month without the cloud: whatever expires and however the wall clock is set, the agent serves
// the node to the last day, and then replays the latest state.

#include <gtest/gtest.h>

#include <fstream>

#include "test/support/certificates.h"
#include "test/support/scratch_dir.h"
#include "test/unit/agent/edge/uplink/uplink_fixture.h"

namespace holdfast::agent::uplink::month {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using sync::autonomy::LinkState;

constexpr int days = 30;
constexpr int pods_count = 20;
constexpr int changes_a_day = 17;  // of each pod; 10,200 in all
constexpr hours day(24);

constexpr const char* pods = "/api/v1/namespaces/a/pods";
constexpr const char* token = "/api/v1/namespaces/a/serviceaccounts/default/token";
const std::vector<std::string> reads = {
    "/api/v1/pods?fieldSelector=spec.nodeName%3Dedge1&resourceVersion=0",
    "/api/v1/nodes?fieldSelector=metadata.name%3Dedge1&resourceVersion=0",
    "/api/v1/namespaces/a/secrets?resourceVersion=0",
    "/api/v1/namespaces/a/configmaps?resourceVersion=0", "/api/v1/services?resourceVersion=0"};

// The credential files of a kubeconfig, and their replacement by an administrator.
class Files {
 public:
  void write(const test::Authority& authority, const test::Subject& subject) const {
    const tls::Identity made = authority.sign(subject);
    std::ofstream(ca()) << authority.certificate_pem();
    std::ofstream(client()) << made.certificate_pem << made.key_pem;
  }
  [[nodiscard]] std::string ca() const { return (dir_.path() / "ca.crt").string(); }
  [[nodiscard]] std::string client() const { return (dir_.path() / "client.pem").string(); }

 private:
  test::ScratchDir dir_;
};

std::shared_ptr<const tls::Context> server_of(const test::Authority& authority, seconds ends) {
  const test::Subject subject{.common_name = "server", .names = {"IP:127.0.0.1"}, .ends = ends};
  return tls::Context::for_server({.identity = authority.sign(subject),
                                   .client_ca_pem = authority.certificate_pem(),
                                   .client_required = true})
      .value();
}

http::Request as_kubelet(http::Method method, const std::string& target, std::string body) {
  http::Request request{.method = method, .target = target};
  request.headers.add("User-Agent", "kubelet/v1");
  if (method == http::Method::patch) {
    request.headers.add("Content-Type", "application/strategic-merge-patch+json");
  }
  request.body = std::move(body);
  return request;
}

std::string ip_of(int pod, int change) {
  return "10.1." + std::to_string(change % 250) + "." + std::to_string(pod + 1);
}

// A restart of the pod's container and a new address.
void change_status(UplinkFixture& fixture, int pod, int change) {
  const std::string name = "p" + std::to_string(pod);
  const std::string before = ip_of(pod, change - 1);
  const std::string ip = ip_of(pod, change);
  std::string body = R"({"metadata":{"uid":"uid-)" + name + R"("},"status":{"podIP":")" + ip;
  body += R"(","$setElementOrder/podIPs":[{"ip":")" + ip + R"("}],"podIPs":[{"ip":")" + ip;
  body += R"("},{"$patch":"delete","ip":")" + before + R"("}],"containerStatuses":[{"name":"c",)";
  body += R"("restartCount":)" + std::to_string(change) + "}]}}";
  const std::string target = std::string(pods) + "/" + name + "/status";
  ASSERT_EQ(fixture.ask(as_kubelet(http::Method::patch, target, std::move(body))).status, 200);
}

// Issues a token that expires after a week, as the API server does.
std::optional<http::Response> give_token(UplinkFixture& fixture, const http::Request& request) {
  if (request.path() != token) return std::nullopt;
  const WallTime ends = fixture.time.clock().wall() + 7 * day;
  return http::Response{
      .status = 201,
      .headers = {{"Content-Type", "application/json"}},
      .body = R"({"kind":"TokenRequest","apiVersion":"authentication.k8s.io/v1","status":{)"
              R"("token":"t","expirationTimestamp":")" +
              format_rfc3339(ends) + "\"}}"};
}

void prepare(UplinkFixture& fixture) {
  fixture.servers[0]->special = [&fixture](const http::Request& request) {
    return give_token(fixture, request);
  };
  fixture.cloud.put("/api/v1/namespaces/a/secrets", "s", R"({"data":{"k":"dg=="}})");
  fixture.cloud.put("/api/v1/namespaces/a/configmaps", "c");
  fixture.cloud.put("/api/v1/namespaces/a/services", "svc");
  for (int pod = 0; pod < pods_count; ++pod) {
    const std::string ip = ip_of(pod, 0);
    fixture.cloud.put(pods, "p" + std::to_string(pod),
                      R"({"spec":{"nodeName":"edge1"},"status":{"phase":"Running","podIP":")" + ip +
                          R"(","podIPs":[{"ip":")" + ip + R"("}]}})");
  }
  ASSERT_TRUE(fixture.until(LinkState::connected)) << fixture.reason();
  for (const std::string& target : reads) ASSERT_EQ(fixture.ask(target).status, 200) << target;
  ASSERT_EQ(fixture.ask(as_kubelet(http::Method::post, token, "{}")).status, 201);
  fixture.time.run(5s);
}

// Checks that every read is answered, and the token given, also past its end.
void expect_served(UplinkFixture& fixture) {
  for (const std::string& target : reads) {
    const http::Response answer = fixture.ask(target);
    EXPECT_EQ(answer.status, 200) << target << ": " << answer.body;
    EXPECT_NE(answer.body.find("\"metadata\":{\"name\""), std::string::npos) << target;
  }
  EXPECT_EQ(
      fixture.ask("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/edge1").status,
      200);
  EXPECT_EQ(fixture.ask(as_kubelet(http::Method::post, token, "{}")).status, 201);
}

void pass_a_month(UplinkFixture& fixture) {
  for (int at = 0; at < days; ++at) {
    SCOPED_TRACE("day " + std::to_string(at));
    for (int change = 1; change <= changes_a_day; ++change) {
      for (int pod = 0; pod < pods_count; ++pod) {
        change_status(fixture, pod, at * changes_a_day + change);
      }
    }
    fixture.time.clock().advance(day - 2min);
    // The wall clock is set wrong, and corrected a day later.
    if (at == 10) fixture.time.clock().jump_wall(400 * day);
    if (at == 11) fixture.time.clock().jump_wall(-400 * day);
    if (at == 15) fixture.time.clock().jump_wall(3h);
    if (at == 16) fixture.time.clock().jump_wall(-3h);
    if (at == 20) {
      fixture.stop();
      fixture.start();
    }
    fixture.time.run(2min);
    expect_served(fixture);
    EXPECT_EQ(fixture.state(), LinkState::offline);
  }
}

TEST(Month, WithoutTheCloudIsServedToTheLastDayAndTheReturnIsClean) {
  const test::Authority old_authority("cluster", 12 * day);
  const test::Authority new_authority("cluster", 400 * day);
  const Files files;
  files.write(old_authority, {.common_name = "system:node:edge1", .ends = 5 * day});
  UplinkFixture fixture(
      {.tls = server_of(old_authority, 10 * day),
       .user = "client-certificate: " + files.client() + ", client-key: " + files.client(),
       .cluster = "certificate-authority: " + files.ca()});
  prepare(fixture);
  fixture.servers[0]->cut("black_hole");
  ASSERT_TRUE(fixture.until(LinkState::offline));
  pass_a_month(fixture);

  // The cloud returns with another authority, which does not accept the node's certificate.
  fixture.servers[0]->show(server_of(new_authority, 400 * day));
  fixture.time.run(1min);
  EXPECT_EQ(fixture.state(), LinkState::offline);
  expect_served(fixture);

  // Then an administrator gives the node a new certificate.
  files.write(new_authority, {.common_name = "system:node:edge1", .ends = 400 * day});
  const std::size_t from = fixture.cloud.asked.size();
  ASSERT_TRUE(fixture.until(LinkState::connected, 20min)) << fixture.reason();
  fixture.time.run(1min);
  EXPECT_EQ(fixture.state(), LinkState::connected);
  // 10,200 changes become one write for each pod.
  EXPECT_EQ(fixture.cloud.count("PATCH /api/v1/namespaces/a/pods", from), pods_count);
  const int last = days * changes_a_day;
  for (int pod = 0; pod < pods_count; ++pod) {
    const auto object =
        sync::wire::parse_json(fixture.cloud.object(pods, "p" + std::to_string(pod)));
    const sync::json::value& status = object.value().at("status");
    EXPECT_EQ(status.at("podIP").as_string(), ip_of(pod, last));
    EXPECT_EQ(status.at("podIPs").as_array().size(), 1u);
    EXPECT_EQ(status.at("containerStatuses").at(0).at("restartCount"), last);
    EXPECT_EQ(status.at("phase"), "Running");
  }
  EXPECT_EQ(fixture.ask(as_kubelet(http::Method::post, token, "{}")).status, 201);
}

}  // namespace
}  // namespace holdfast::agent::uplink::month
