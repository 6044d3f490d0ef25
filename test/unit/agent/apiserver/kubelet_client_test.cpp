// What the API server sends to kubelets: with which certificate, to how many at a time, and without
// the credentials of its callers. And the server as `holdfast-lab apiserver` runs it.

#include "agent/lab/apiserver/kubelet_client.h"

#include <map>

#include "agent/lab/apiserver/serve.h"
#include "platform/fs/file.h"
#include "platform/http/client.h"
#include "platform/http/server.h"
#include "platform/loop/event.h"
#include "platform/loop/tasks.h"
#include "platform/loop/timer.h"
#include "platform/text.h"
#include "test/support/certificates.h"
#include "test/unit/agent/apiserver/api_server_fixture.h"

namespace holdfast::agent::lab {
namespace {

using namespace std::chrono_literals;

const net::HostPort lab_address{"127.0.0.1", 7443};

// A log of one line that does not end.
class EndlessLog final : public http::BodyStream {
 public:
  explicit EndlessLog(asio::any_io_executor executor) : changed_(std::move(executor)) {}
  asio::awaitable<Result<std::string>> next() override {
    std::string line = "line\n";
    if (!std::exchange(begun_, true)) co_return line;
    while (!cancelled_) co_await changed_.wait();
    co_return fail(Errc::cancelled, "log");
  }
  void cancel() override {
    cancelled_ = true;
    changed_.notify_all();
  }

 private:
  loop::Event changed_;
  bool begun_ = false;
  bool cancelled_ = false;
};

// A kubelet with a certificate of `own`, which accepts only clients with one of `clients`. Logs are
// one line, which does not end if it is followed; everything else is refused.
class KubeletServer {
 public:
  KubeletServer(test::VirtualTime& time, const test::Authority& own, const test::Authority& clients)
      : executor_(time.executor()),
        server_(executor_, {}, [this](const http::Request& request) { return answer(request); }) {
    const auto tls = tls::Context::for_server(
        {.identity = own.sign({.common_name = "kubelet", .names = {"IP:127.0.0.1"}}),
         .client_ca_pem = clients.certificate_pem(),
         .client_required = true});
    auto listener = net::Listener::open(executor_, {"127.0.0.1", 0}, tls.value()).value();
    port = listener->port();
    server_.listen(std::move(listener));
  }

  asio::awaitable<void> stop(MonoTime deadline) { return server_.stop(deadline); }

  std::uint16_t port = 0;
  std::string caller;                          // of the last request, by its certificate
  std::map<std::string, std::string> headers;  // of the last request but Host; names in lower case

 private:
  asio::awaitable<http::Response> answer(const http::Request& request) {
    caller = request.peer.common_name;
    headers.clear();
    for (const http::Header& header : request.headers)
      headers[to_lower(header.name)] = header.value;
    headers.erase("host");
    http::Response response;
    if (request.path() == "/containerLogs/ns/p/silent") {
      co_await loop::wait_for(std::chrono::hours(1));
    } else if (!request.path().starts_with("/containerLogs/")) {
      response.status = 403;
      response.body = "no exec here";
    } else if (request.query() == "follow=true") {
      response.stream = std::make_shared<EndlessLog>(executor_);
    } else {
      response.body = "line\n";
    }
    co_return response;
  }

  asio::any_io_executor executor_;
  http::Server server_;
};

class KubeletClientTest : public ::testing::Test {
 protected:
  KubeletClientTest()
      : client_(KubeletClient::make({.identity = clients_.sign({.common_name = "api-server"})})
                    .value()) {}
  ~KubeletClientTest() override {
    open_.clear();
    time_.settle();
    time_.complete(kubelet_.stop(time_.clock().mono() + 1s));
  }

  // Asks the kubelet in the name of a node. Returns the status, and keeps a log open.
  int ask(const http::Request& from, const std::string& node, const std::string& target) {
    NodeRequest to{.node = node, .pod = "p", .target = target};
    to.is_log = target.starts_with("/containerLogs/");
    to.follows = target.ends_with("?follow=true");
    to.host = "127.0.0.1";
    to.port = kubelet_.port;
    int status = 0;
    time_.complete(ask_into(from, std::move(to), status));
    return status;
  }
  int open_log(const std::string& node) {
    const http::Request from;
    return ask(from, node, "/containerLogs/ns/p/c?follow=true");
  }

  test::VirtualTime time_;
  test::Authority clients_{"kubelet clients"};
  KubeletServer kubelet_{time_, clients_, clients_};
  std::vector<std::shared_ptr<http::BodyStream>> open_;
  std::string refusal_;  // the message of the last answer, if it is none of the kubelet

 private:
  asio::awaitable<void> ask_into(const http::Request& from, NodeRequest to, int& status) {
    auto reply = co_await client_->ask(from, std::move(to));
    status = reply ? reply->status : reply.error().code;
    refusal_ = reply ? "" : reply.error().message;
    if (reply && reply->stream) open_.push_back(std::move(reply->stream));
  }

  std::unique_ptr<KubeletClient> client_;
};

TEST_F(KubeletClientTest, ANodeHas32LogsAndSessionsAtATime) {
  for (int number = 1; number <= 32; ++number) EXPECT_EQ(open_log("a"), 200) << number;
  EXPECT_EQ(open_log("a"), 429);
  EXPECT_EQ(open_log("b"), 200) << "each node has its own";
  open_.erase(open_.begin());
  EXPECT_EQ(open_log("a"), 200) << "one has ended";
  EXPECT_EQ(open_log("a"), 429);
}

TEST_F(KubeletClientTest, NoAnswerWithin8SecondsIsA504AndAnotherFailureA502) {
  const net::HostPort address{"127.0.0.1", kubelet_.port};
  const std::string where = "error dialing backend: node a at " + address.text() + ": ";
  const std::string late = where + "no answer within 8s; is its link cut?";
  const std::string nobody = "connect to " + address.text() + ": Connection refused";
  const std::string line = "/containerLogs/ns/p/c";
  net::MemoryNetwork& network = time_.network();
  const struct {
    const char* what;
    net::LinkConditions up;
    net::LinkConditions down;
    bool is_refused;
    std::string target;
    int status;
    std::string refusal;
    Duration after;
  } rows[] = {
      {"a link without faults", {}, {}, false, line, 200, "", 0s},
      {"a slow link", {.latency = 1s}, {.latency = 900ms}, false, line, 200, "", 5700ms},
      {"a link that is too slow", {.latency = 2s}, {.latency = 1s}, false, line, 504, late, 8s},
      {"a link that is cut", {.is_silent = true}, {.is_silent = true}, false, line, 504, late, 8s},
      {"a link on which no answer arrives", {}, {.is_silent = true}, false, line, 504, late, 8s},
      {"a kubelet that is silent", {}, {}, false, "/containerLogs/ns/p/silent", 504, late, 8s},
      {"a port at which nobody listens", {}, {}, true, line, 502, where + nobody, 0s}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    network.set_link(address, net::Direction::to_server, row.up);
    network.set_link(address, net::Direction::to_client, row.down);
    network.refuse(address, row.is_refused);
    const MonoTime begin = time_.clock().mono();
    EXPECT_EQ(ask({}, "a", row.target), row.status);
    EXPECT_EQ(refusal_, row.refusal);
    EXPECT_EQ(time_.clock().mono() - begin, row.after);
  }
  network.refuse(address, false);
}

asio::awaitable<void> read_to_its_end(std::shared_ptr<http::BodyStream> stream, bool& ended) {
  for (Result<std::string> piece = std::string("begun"); piece && !piece->empty();) {
    piece = co_await stream->next();
  }
  ended = true;
}

// The node is probed 7.5 s after each probe. Two that fail, after 8 s each, end the log.
TEST_F(KubeletClientTest, AFollowedLogEndsWithin31SecondsAfterTheNodeWasCutOff) {
  const net::HostPort address{"127.0.0.1", kubelet_.port};
  const struct {
    Duration cut_after;
    Duration cut_for;
    Duration ends_after;  // counted from the cut; 10min: it does not end
  } rows[] = {{0s, 10min, 31s},   {7s, 10min, 24s}, {8s, 10min, 30500ms},
              {3min, 10min, 31s}, {0s, 22s, 10min},  // healed before the second probe fails
              {1min, 15s, 10min}};
  for (const auto& row : rows) {
    SCOPED_TRACE(format_duration(row.cut_after));
    EXPECT_EQ(open_log("a"), 200);
    bool ended = false;
    loop::Tasks reading(time_.executor());
    reading.spawn("read", read_to_its_end(open_.back(), ended));
    time_.run(row.cut_after);
    time_.network().set_link(address, {.is_silent = true});
    const MonoTime cut = time_.clock().mono();
    (void)time_.run_until(row.cut_for, [&ended] { return ended; });
    time_.network().set_link(address, {});
    (void)time_.run_until(10min - row.cut_for, [&ended] { return ended; });
    EXPECT_EQ(time_.clock().mono() - cut, row.ends_after);
    EXPECT_EQ(ended, row.ends_after < 10min);
    for (const auto& each : open_) each->cancel();
    time_.settle();
    open_.clear();
  }
}

TEST_F(KubeletClientTest, TheCredentialsOfCallersAreNotPassedOn) {
  const std::string token = "base64url.bearer.authorization.k8s.io.c2VjcmV0";
  const http::Request from{.target = "/api/v1/namespaces/ns/pods/p/exec?command=sh",
                           .headers = {{"Authorization", "Bearer secret"},
                                       {"Cookie", "session=secret"},
                                       {"Impersonate-User", "ann"},
                                       {"X-Remote-User", "ann"},
                                       {"Connection", "Upgrade"},
                                       {"Upgrade", "websocket"},
                                       {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="},
                                       {"Sec-WebSocket-Version", "13"},
                                       {"Sec-WebSocket-Protocol",
                                        "v5.channel.k8s.io, " + token + ", v4.channel.k8s.io"}}};
  EXPECT_EQ(ask(from, "a", "/exec/ns/p/c?command=sh"), 403);
  const std::map<std::string, std::string> of_exec = {
      {"connection", "Upgrade"},
      {"upgrade", "websocket"},
      {"sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="},
      {"sec-websocket-version", "13"},
      {"sec-websocket-protocol", "v5.channel.k8s.io, v4.channel.k8s.io"}};
  EXPECT_EQ(kubelet_.headers, of_exec);
  EXPECT_EQ(kubelet_.caller, "api-server");
  EXPECT_EQ(ask(from, "a", "/containerLogs/ns/p/c"), 200);
  EXPECT_EQ(kubelet_.headers, (std::map<std::string, std::string>()));
}

// ------------------------------------------------------------------------------ the whole server

asio::awaitable<void> serve_lab_into(ServeSettings settings, loop::Stop& stop, const Clock& clock,
                                     Status& served) {
  served = co_await serve(std::move(settings), stop, clock);
}

// `holdfast-lab apiserver` with these settings, until stop().
class ServedLab {
 public:
  ServedLab(test::VirtualTime& time, ServeSettings settings) : time_(time) {
    settings.listen = lab_address.text();
    settings.data = (scratch_.path() / "data").string();
    settings.controllers = false;
    tasks_.spawn("serve", serve_lab_into(std::move(settings), stop_, time_.clock(), served_));
    time_.settle();
  }
  ~ServedLab() { stop(); }
  ServedLab(const ServedLab&) = delete;
  ServedLab& operator=(const ServedLab&) = delete;

  // "200 body"
  std::string ask(http::Method method, const std::string& target, const std::string& body = "") {
    http::Request request{.method = method, .target = target, .body = body};
    if (!body.empty()) request.headers.set("Content-Type", "application/json");
    std::string text;
    time_.complete(ask_into(std::move(request), text));
    return text;
  }
  void stop() {
    stop_.request();
    time_.run(6s);
    EXPECT_TRUE(served_) << served_.error().what;
  }

 private:
  asio::awaitable<void> ask_into(http::Request request, std::string& text) {
    http::Client client({.at = lab_address});
    const auto answer = co_await client.send(std::move(request), time_.clock().mono() + 1min);
    text = answer ? std::to_string(answer->status) + " " + answer->body : answer.error().what;
  }

  test::VirtualTime& time_;
  test::ScratchDir scratch_;
  loop::Stop stop_{time_.executor()};
  Status served_;
  loop::Tasks tasks_{time_.executor()};
};

TEST(ServeKubelets, TheyGetTheCertificateOfTheFlagsAndAreVerifiedByTheirAuthority) {
  const test::Authority kubelets("kubelets");
  const test::Authority clients("clients");
  const test::Authority strangers("strangers");
  const struct {
    const char* what;
    const test::Authority& signer;    // of --kubelet-client-certificate
    const test::Authority* verifier;  // --kubelet-certificate-authority
    std::string seen;
    std::string caller;
  } rows[] = {
      {"any kubelet", clients, nullptr, "200 line\n", "api-server"},
      {"a kubelet of the authority", clients, &kubelets, "200 line\n", "api-server"},
      {"a kubelet of another authority", clients, &strangers, "502", ""},
      {"a certificate that the kubelet does not accept", strangers, nullptr, "502", ""},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    const test::ScratchDir files;
    const auto file = [&files](const char* name) { return (files.path() / name).string(); };
    const tls::Identity identity = row.signer.sign({.common_name = "api-server"});
    ASSERT_TRUE(fs::atomic_write(file("client.crt"), identity.certificate_pem));
    ASSERT_TRUE(fs::atomic_write(file("client.key"), identity.key_pem));
    ServeSettings settings;
    settings.kubelet_client_certificate = file("client.crt");
    settings.kubelet_client_key = file("client.key");
    if (row.verifier != nullptr) {
      ASSERT_TRUE(fs::atomic_write(file("ca.crt"), row.verifier->certificate_pem()));
      settings.kubelet_certificate_authority = file("ca.crt");
    }
    test::VirtualTime time;
    KubeletServer kubelet(time, kubelets, clients);
    ServedLab lab(time, settings);
    const std::string node =
        R"({"metadata":{"name":"a"},"status":{"addresses":[{"type":"InternalIP","address":)"
        R"("127.0.0.1"}],"daemonEndpoints":{"kubeletEndpoint":{"Port":)" +
        std::to_string(kubelet.port) + "}}}}";
    EXPECT_TRUE(lab.ask(http::Method::post, "/api/v1/nodes", node).starts_with("201 "));
    const std::string pods = "/api/v1/namespaces/default/pods";
    const std::string pod =
        R"({"metadata":{"name":"p"},"spec":{"nodeName":"a","containers":[{"name":"c",)"
        R"("image":"x"}]}})";
    EXPECT_TRUE(lab.ask(http::Method::post, pods, pod).starts_with("201 "));
    const std::string seen = lab.ask(http::Method::get, pods + "/p/log");
    EXPECT_EQ(seen.substr(0, row.seen.size()), row.seen) << seen;
    EXPECT_EQ(kubelet.caller, row.caller);
    lab.stop();
    time.complete(kubelet.stop(time.clock().mono() + 1s));
  }
}

TEST(ServeWrittenKubeconfig, StaysWhenTheServerEnds) {
  const test::ScratchDir files;
  ServeSettings settings;
  settings.kubeconfig = (files.path() / "kubeconfig").string();
  test::VirtualTime time;
  ServedLab lab(time, settings);
  const auto written = fs::read_all(settings.kubeconfig, 1UL << 20);
  ASSERT_TRUE(written) << written.error().what;
  EXPECT_NE(written->find("server: http://" + lab_address.text() + "\n"), std::string::npos);
  lab.stop();
  EXPECT_EQ(fs::read_all(settings.kubeconfig, 1UL << 20).value_or(""), *written);
}

TEST(ServePods, AttachDebugAndProxyAreMissing) {
  test::ApiServerFixture fixture(test::options_without_controllers());
  const std::string pods = "/api/v1/namespaces/default/pods";
  (void)fixture.ask({.method = "POST",
                     .target = pods,
                     .body = R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c",)"
                             R"("image":"x"}]}})"});
  (void)fixture.ask(
      {.method = "POST", .target = "/api/v1/nodes", .body = R"({"metadata":{"name":"a"}})"});
  const struct {
    const char* method;
    std::string target;
    int status;
  } rows[] = {{"GET", pods + "/p/log", 204},  // it has no node, so the log is empty
              {"GET", pods + "/p/attach", 404},
              {"POST", pods + "/p/attach", 404},
              {"GET", pods + "/p/ephemeralcontainers", 404},  // kubectl debug
              {"PATCH", pods + "/p/ephemeralcontainers", 404},
              {"GET", pods + "/p/proxy", 404},
              {"GET", pods + "/p/proxy/index.html", 404},
              {"GET", "/api/v1/nodes/a", 200},
              {"GET", "/api/v1/nodes/a/proxy", 404},
              {"GET", "/api/v1/nodes/a/proxy/stats", 404}};
  for (const auto& row : rows) {
    EXPECT_EQ(fixture.ask({.method = row.method, .target = row.target}).status, row.status)
        << row.method << " " << row.target;
  }
}

}  // namespace
}  // namespace holdfast::agent::lab
