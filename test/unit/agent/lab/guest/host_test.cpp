// The kubeconfigs with which nodes reach a cluster that others use, too.

#include "agent/lab/guest/host.h"

#include <set>

#include "platform/fs/file.h"
#include "platform/http/server.h"
#include "sync/wire/json.h"
#include "test/support/scratch_dir.h"
#include "test/support/virtual_time.h"

namespace holdfast::agent::lab::guest {
namespace {

Host host_at(const std::string& server, const std::string& user, const std::string& cluster = {}) {
  const test::ScratchDir scratch;
  const std::string file = (scratch.path() / "config").string();
  const std::string text =
      "current-context: x\nclusters:\n- name: c\n  cluster: {server: " + server + cluster +
      "}\ncontexts:\n- name: x\n  context: {cluster: c, user: u}\n" +
      "users:\n- name: u\n  user: {" + user + "}\n";
  EXPECT_TRUE(fs::atomic_write(file, text));
  auto host = read_host(file);
  EXPECT_TRUE(host) << host.error().what;
  return *std::move(host);
}

TEST(LabGuestHost, IsReachedThroughTheLinkUnderItsOwnName) {
  const tls::Identity identity{.certificate_pem = "C", .key_pem = "K"};
  const std::string head =
      "apiVersion: v1\nkind: Config\ncurrent-context: lab\nclusters:\n"
      "- name: lab\n  cluster:\n    server: ";
  const std::string middle =
      "contexts:\n- name: lab\n  context:\n    cluster: lab\n"
      "    user: lab\nusers:\n- name: lab\n  user:";
  const std::string certificate =
      "\n    client-certificate-data: Qw==\n    client-key-data: Sw==\n";
  EXPECT_EQ(kubeconfig_through(host_at("https://api.example.org:6443/clusters/a", "token: t"), 77,
                               identity),
            head + "https://127.0.0.1:77/clusters/a\n    tls-server-name: api.example.org\n" +
                middle + certificate);
  EXPECT_EQ(kubeconfig_through(host_at("https://10.0.0.1", "token: t",
                                       ", tls-server-name: api, certificate-authority-data: Q0E="),
                               77, identity),
            head + "https://127.0.0.1:77\n    tls-server-name: api\n" +
                "    certificate-authority-data: Q0E=\n" + middle + certificate);
  EXPECT_EQ(kubeconfig_through(
                host_at("https://10.0.0.1", "token: t", ", insecure-skip-tls-verify: true"), 77,
                identity),
            head + "https://127.0.0.1:77\n    tls-server-name: 10.0.0.1\n" +
                "    insecure-skip-tls-verify: true\n" + middle + certificate);
  EXPECT_EQ(kubeconfig_through(host_at("http://127.0.0.1:7443", "token: t"), 77, {}),
            head + "http://127.0.0.1:77\n" + middle + "\n    token: t\n");
  EXPECT_EQ(kubeconfig_through(host_at("http://127.0.0.1:7443", ""), 77, {}),
            head + "http://127.0.0.1:77\n" + middle + " {}\n");
}

TEST(LabGuestHost, NeedsCredentialsForTls) {
  const test::ScratchDir scratch;
  const std::string file = (scratch.path() / "config").string();
  ASSERT_TRUE(fs::atomic_write(
      file,
      "current-context: x\nclusters:\n- name: c\n  cluster: {server: \"https://10.0.0.1:6443\"}\n"
      "contexts:\n- name: x\n  context: {cluster: c}\n"));
  const auto host = read_host(file);
  ASSERT_FALSE(host);
  EXPECT_EQ(host.error().what, "--kubeconfig: " + file +
                                   ": its context has no user with a token, a client certificate "
                                   "or a credential plug-in, one of which https://10.0.0.1:6443 "
                                   "requires");
}

// A server that only reviews rights.
class RightsServer {
 public:
  RightsServer() {
    auto listener = net::Listener::open(time.executor(), {"127.0.0.1", 0}, nullptr).value();
    at_ = "http://127.0.0.1:" + std::to_string(listener->port());
    server_.listen(std::move(listener));
  }
  ~RightsServer() { time.complete(server_.stop(time.clock().mono())); }
  RightsServer(const RightsServer&) = delete;
  RightsServer& operator=(const RightsServer&) = delete;

  // What check_rights() says, without the file and the address.
  std::string check() {
    const Host host = host_at(at_, "");
    const auto client = client_of(host, time.clock()).value();
    Status checked;
    time.complete(check_into(host, *client, checked));
    if (checked) return "";
    const std::string where = "--kubeconfig: " + host.file + ": " + host.access.server.text();
    const std::string what = checked.error().what;
    EXPECT_TRUE(what.starts_with(where)) << what;
    return std::string(to_string(checked.error().code)) + what.substr(where.size());
  }

  test::VirtualTime time;
  std::set<std::string> denied;  // "delete nodes", "create pods/eviction"
  int status = 201;

 private:
  asio::awaitable<void> check_into(const Host& host, ApiClient& client, Status& checked) {
    checked = co_await check_rights(host, client, time.clock(), true);
  }

  asio::awaitable<http::Response> answer(const http::Request& request) {
    EXPECT_EQ(request.path(), "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews");
    const auto review = sync::wire::parse_json(request.body).value();
    const auto& about = review.at_pointer("/spec/resourceAttributes").as_object();
    std::string right(about.at("verb").as_string());
    right.append(" ").append(std::string(about.at("resource").as_string()));
    if (const auto* part = about.if_contains("subresource")) {
      right.append("/").append(std::string(part->as_string()));
    }
    http::Response response{.status = status, .headers = {{"Content-Type", "application/json"}}};
    response.body = denied.contains(right) ? R"({"status":{"allowed":false}})"
                                           : R"({"status":{"allowed":true}})";
    co_return response;
  }

  std::string at_;
  http::Server server_{
      time.executor(), {}, [this](const http::Request& request) { return answer(request); }};
};

TEST(LabGuestRights, AreReviewedAndAllThatAreMissingAreNamed) {
  RightsServer server;
  EXPECT_EQ(server.check(), "");
  server.denied = {"delete nodes", "create pods/eviction", "delete leases", "list priorityclasses"};
  EXPECT_EQ(server.check(),
            "denied: the user may not: delete nodes, create pods/eviction, "
            "delete leases.coordination.k8s.io in kube-node-lease, "
            "list priorityclasses.scheduling.k8s.io");
  server.status = 401;
  EXPECT_TRUE(server.check().starts_with("denied does not accept the credentials: "));
}

}  // namespace
}  // namespace holdfast::agent::lab::guest
