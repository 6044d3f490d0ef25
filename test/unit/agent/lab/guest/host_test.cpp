// The kubeconfigs with which nodes reach a cluster that others use, too.

#include "agent/lab/guest/host.h"

#include <algorithm>
#include <set>

#include "agent/lab/guest/leftovers.h"
#include "platform/fs/file.h"
#include "platform/http/server.h"
#include "sync/objects/request_info.h"
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

using Rights = std::set<std::string>;  // "delete nodes", "create pods/eviction"

// A server that reviews rights and answers all other requests as one that has a run's objects.
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
  std::string check(bool with_priorities) {
    const Host host = host_at(at_, "");
    const auto client = client_of(host, time.clock()).value();
    Status checked;
    time.complete(check_into(host, *client, with_priorities, checked));
    if (checked) return "";
    const std::string where = "--kubeconfig: " + host.file + ": " + host.access.server.text();
    const std::string what = checked.error().what;
    EXPECT_TRUE(what.starts_with(where)) << what;
    return std::string(to_string(checked.error().code)) + what.substr(where.size());
  }
  // Finds the runs in the cluster, and removes one.
  void find_and_remove() {
    const auto client = client_of(host_at(at_, ""), time.clock()).value();
    time.complete(find_and_remove_with(*client));
  }

  test::VirtualTime time;
  Rights denied;
  Rights reviewed;
  Rights used;  // by requests other than reviews, each with its namespace as text() has it
  int status = 201;

 private:
  asio::awaitable<void> check_into(const Host& host, ApiClient& client, bool with_priorities,
                                   Status& checked) {
    checked = co_await check_rights(host, client, time.clock(), with_priorities);
  }
  asio::awaitable<void> find_and_remove_with(ApiClient& client) {
    const auto runs = co_await find_runs(client, time.clock());
    EXPECT_TRUE(runs) << runs.error().what;
    EXPECT_TRUE(runs && runs->size() == 1);
    const Status removed = co_await remove_run(client, time.clock(), "lab-x");
    EXPECT_TRUE(removed) << removed.error().what;
  }

  static std::string text(std::string_view verb, std::string_view resource,
                          std::string_view subresource, std::string_view space) {
    std::string right = std::string(verb) + " " + std::string(resource);
    if (!subresource.empty()) right.append("/").append(subresource);
    if (!space.empty()) right.append(" in ").append(space);
    return right;
  }

  std::string review(const http::Request& request) {
    const auto body = sync::wire::parse_json(request.body).value();
    const auto& about = body.at_pointer("/spec/resourceAttributes").as_object();
    const auto field = [&about](const char* name) {
      const auto* value = about.if_contains(name);
      return value == nullptr ? std::string() : std::string(value->as_string());
    };
    reviewed.insert(
        text(field("verb"), field("resource"), field("subresource"), field("namespace")));
    const bool is_denied =
        denied.contains(text(field("verb"), field("resource"), field("subresource"), ""));
    return is_denied ? R"({"status":{"allowed":false}})" : R"({"status":{"allowed":true}})";
  }

  // One object of the run in each collection, until it is removed.
  std::string use(const http::Request& request) {
    const auto info =
        sync::objects::parse_request(to_string(request.method), request.path(), request.query())
            .value();
    const bool is_space = info.resource == "namespaces";
    used.insert(
        text(info.verb, info.resource, info.subresource, is_space ? "" : info.namespace_name));
    if (info.verb != "list") removed_.insert(info.resource);
    if (removed_.contains(info.resource)) return R"({"kind":"List","items":[]})";
    return R"({"kind":"List","items":[{"metadata":{"name":"lab-x-a-1","labels":{)"
           R"("holdfast.dev/lab-run":"lab-x"},"annotations":{)"
           R"("holdfast.dev/lab-owner":"elsewhere/boot.1.1/data"}},)"
           R"("involvedObject":{"name":"lab-x-a-1"}}]})";
  }

  asio::awaitable<http::Response> answer(const http::Request& request) {
    http::Response response{.status = status, .headers = {{"Content-Type", "application/json"}}};
    const bool is_review =
        request.path() == "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    response.body = is_review ? review(request) : use(request);
    co_return response;
  }

  std::string at_;
  Rights removed_;
  http::Server server_{
      time.executor(), {}, [this](const http::Request& request) { return answer(request); }};
};

TEST(LabGuestRights, AreReviewedAndAllThatAreMissingAreNamed) {
  const struct {
    bool with_priorities;
    Rights denied;
    std::string says;
  } rows[] = {{true, {}, ""},
              {true,
               {"delete nodes", "create pods/eviction", "delete leases", "list priorityclasses"},
               "denied: the user may not: delete nodes, create pods/eviction, "
               "delete leases.coordination.k8s.io in kube-node-lease, "
               "list priorityclasses.scheduling.k8s.io"},
              {true,
               {"create priorityclasses", "delete priorityclasses"},
               "denied: the user may not: create priorityclasses.scheduling.k8s.io, "
               "delete priorityclasses.scheduling.k8s.io"},
              {false,
               {"list priorityclasses"},
               "denied: the user may not: list priorityclasses.scheduling.k8s.io"},
              {false, {"create priorityclasses", "delete priorityclasses"}, ""}};
  for (const auto& row : rows) {
    RightsServer server;
    server.denied = row.denied;
    EXPECT_EQ(server.check(row.with_priorities), row.says);
  }
  RightsServer server;
  server.status = 401;
  EXPECT_TRUE(server.check(true).starts_with("denied does not accept the credentials: "));
}

// What finding and removing runs needs is compared with what was reviewed, so that a new request
// cannot be forgotten among the rights.
TEST(LabGuestRights, CoverWhatFindingAndRemovingRunsRequests) {
  for (const bool with_priorities : {true, false}) {
    RightsServer server;
    EXPECT_EQ(server.check(with_priorities), "");
    server.find_and_remove();
    Rights expected = {"list namespaces",
                       "delete namespaces",
                       "list pods in lab-x-a-1",
                       "delete pods in lab-x-a-1",
                       "list nodes",
                       "delete nodes",
                       "delete leases in kube-node-lease",
                       "list events in default",
                       "delete events in default",
                       "list priorityclasses",
                       "delete priorityclasses",
                       "list certificatesigningrequests",
                       "delete certificatesigningrequests"};
    EXPECT_EQ(server.used, expected);
    Rights missing;
    for (const std::string& right : server.used) {
      const std::string everywhere = right.substr(0, right.find(" in "));
      if (!server.reviewed.contains(right) && !server.reviewed.contains(everywhere)) {
        missing.insert(right);
      }
    }
    // Without priorities a run has no classes to delete.
    EXPECT_EQ(missing, with_priorities ? Rights() : Rights({"delete priorityclasses"}));
  }
}

}  // namespace
}  // namespace holdfast::agent::lab::guest
